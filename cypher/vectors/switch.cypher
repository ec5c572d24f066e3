// Let the other set of vectors be searched from here on, by the embedder and the calibration that it has; what was searched is kept
// for its grace, or leaves. What was prepared before is prepared anew. No row where the other set is another one by now, or leaves.
// $vectors: integer    number of the other set
// $state: string    of what was searched: kept or leaving
// returns until [ms]: the end of the grace
MATCH (s:Store {name: 'store'})
MATCH (o:Store {name: 'second'}) WHERE o.vectors = $vectors AND o.state <> 'leaving'
WITH s, o, properties(s) AS was
SET s.model = o.model, s.named = o.named, s.dimensions = o.dimensions, s.probe = o.probe, s.calibration = o.calibration,
    s.vectors = o.vectors, s.former = was.model
SET o.model = was.model, o.named = was.named, o.dimensions = was.dimensions, o.probe = was.probe, o.calibration = was.calibration,
    o.vectors = coalesce(was.vectors, 1), o.state = $state, o.since = timestamp(), o.until = timestamp() + o.grace
WITH o.until AS until
CALL () { MATCH (s:Scope) SET s.version = s.version + 1 }
RETURN until
