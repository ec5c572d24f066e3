// Texts of some notes, of the largest scopes.
// $limit: integer    notes
// returns raw, context
MATCH (s:Scope)
WITH s ORDER BY s.notes DESC LIMIT 8
MATCH (n:Note {scope: s.scope}) WHERE n.id > ''
RETURN n.raw AS raw, n.context AS context LIMIT $limit
