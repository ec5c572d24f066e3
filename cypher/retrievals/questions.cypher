// What some readers asked, as far as it is recorded.
// $scopes: list<string>    the readers'
// $until: datetime    until when it must have been, or null
// returns reader: his scope, asked [[id, words]]
MATCH (r:Retrieval) WHERE r.scope IN $scopes AND r.id >= '' AND r.question IS :: STRING NOT NULL AND ($until IS NULL OR r.at <= $until)
RETURN r.scope AS reader, collect([r.id, r.question]) AS asked
