// Notes that are tied to some notes, best first: each at the score of the note that leads to it times the tie's (MemFly,
// section 3.4.1: topological expansion). Ranges are those of notes/propose.
// $scopes: list<string>    the scopes read
// $statuses: list<string>    of notes that may be found
// $stamps: list<integer>    these notes
// $scores: list<float>    the score of each
// $tied: integer    notes that ties lead to
// $ways: list<map>    which notes ranges admit
// $as_of: list<datetime>    latest valid_from, and what valid_to is later than; the same for one moment
// $known_at: list<datetime>    likewise of recorded_at and superseded_at
// $alive: datetime    what ends by then can't be read: the present, or the time of a look back
// $present: datetime    what is to be erased by then is gone
// returns stamps, scores
UNWIND range(0, size($stamps) - 1) AS place
MATCH (o:Note {stamp: $stamps[place]}) WHERE o.scope IN $scopes
MATCH (o)-[r:RELATED]-(n)
WHERE o.apart IS NULL AND n.apart IS NULL AND n.scope IN $scopes AND n.status IN $statuses AND n.expires_at > $alive AND n.erase_at > $present AND
  // use notes/ranges
  // use notes/as_of
WITH n, max($scores[place] * r.score) AS score
ORDER BY score DESC, n.stamp LIMIT $tied
RETURN collect(n.stamp) AS stamps, collect(score) AS scores
