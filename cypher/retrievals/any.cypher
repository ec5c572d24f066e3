// Whether some readers were given anything, as far as it is recorded.
// $scopes: list<string>    the readers'
// returns scope, of one of those who were
MATCH (r:Retrieval) WHERE r.scope IN $scopes AND r.id >= ''
RETURN r.scope AS scope LIMIT 1
