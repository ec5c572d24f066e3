// The scopes of which a set of vectors may lack some: whatever was written to them since it was whole.
// $vectors: integer    number of the set
// returns scope, mark: what the scope says of itself as of now, filled as that where all is there (vectors/whole)
MATCH (s:Scope)
// use vectors/mark
WITH s, mark WHERE coalesce(s.filled, '') <> mark
RETURN s.scope AS scope, mark
