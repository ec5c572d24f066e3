// Add a server to the catalogue, or another address of one, with the tenants that live there; no row where one of them lives elsewhere.
// Fails where another database has the name, or this one another name.
// $name: string    of the server
// $id: string    the database's own
// $uri: string    where it answers
// $tenants: list<string>    what lies there
// returns name
MERGE (s:Server {name: $name, id: $id})
SET s.uri = $uri, s.drained = false
WITH s, COLLECT { MATCH (t:Tenant) WHERE t.name IN $tenants AND t.server <> $name RETURN t.name } AS elsewhere WHERE elsewhere = []
CALL () { UNWIND $tenants AS tenant MERGE (t:Tenant {name: tenant}) ON CREATE SET t.server = $name }
RETURN s.name AS name
