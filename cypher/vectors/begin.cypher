// Begin another set of vectors, which nobody searches yet; no row where there is one. What was searched before gets the name by
// which settings call it.
// $model: string    what the embedder calls itself
// $named: string    what settings call it
// $dimensions: integer    length of its vectors
// $probe: list<float>    its vector of one word
// $calibration: string    what its cosines mean, JSON; '' where that is shipped
// $total: integer    texts, about
// $grace: integer    ms for which the former is kept
// $former: string    what settings call the one that is searched
// returns vectors: its number
MERGE (o:Store {name: 'second'})
SET o.lock = true
WITH o WHERE o.vectors IS NULL
MATCH (s:Store {name: 'store'})
SET s.last = coalesce(s.last, 1) + 1, s.named = CASE WHEN coalesce(s.named, '') = '' THEN $former ELSE s.named END
SET o.vectors = s.last, o.model = $model, o.named = $named, o.dimensions = $dimensions, o.probe = $probe,
    o.calibration = CASE WHEN $calibration = '' THEN null ELSE $calibration END, o.state = 'filling', o.since = timestamp(), o.until = null, o.grace = $grace,
    o.filled = 0, o.total = $total
RETURN o.vectors AS vectors
