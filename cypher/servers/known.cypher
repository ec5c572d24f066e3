// The servers of the catalogue, by name.
// returns name, id: its database's, uri, drained (no tenant is placed there any more), tenants: how many live there
MATCH (s:Server)
RETURN s.name AS name, s.id AS id, s.uri AS uri, s.drained AS drained, COUNT { MATCH (t:Tenant) WHERE t.server = s.name } AS tenants ORDER BY name
