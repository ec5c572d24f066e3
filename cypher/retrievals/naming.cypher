// How many retrievals of some readers gave one of some notes.
// $scopes: list<string>    the readers'
// $notes: list<string>    the notes
// $until: datetime    until when it must have been, or null
// returns retrievals
MATCH (r:Retrieval) WHERE r.scope IN $scopes AND r.id >= '' AND ($until IS NULL OR r.at <= $until) AND any(id IN r.notes WHERE id IN $notes)
RETURN count(r) AS retrievals
