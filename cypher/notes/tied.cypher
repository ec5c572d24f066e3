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
MATCH (n:Note {stamp: $stamps[place]}) WHERE n.scope IN $scopes
MATCH (n)-[r:RELATED]-(m)
WHERE n.apart IS NULL AND m.apart IS NULL AND m.scope IN $scopes AND m.status IN $statuses AND m.expires_at > $alive AND m.erase_at > $present AND any(way IN $ways WHERE m.several IN way.several
    AND m.said_at >= way.since AND m.said_at <= way.until
    AND (m.session = way.session[0] OR way.session[0] <> way.session[1])
    AND (m.speaker = way.speaker[0] OR way.speaker[0] <> way.speaker[1])
    AND (m.role = way.role[0] OR way.role[0] <> way.role[1])
    AND (m.agent_id = way.agent[0] OR way.agent[0] <> way.agent[1]))
  AND m.valid_from <= $as_of[0] AND m.valid_to > $as_of[1]
  AND m.recorded_at <= $known_at[0] AND m.superseded_at > $known_at[1]
WITH m, max($scores[place] * r.score) AS score
ORDER BY score DESC, m.stamp LIMIT $tied
RETURN collect(m.stamp) AS stamps, collect(score) AS scores
