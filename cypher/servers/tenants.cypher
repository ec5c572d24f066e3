// The tenants of the catalogue, or one, by name.
// $tenant: string    whose, or null for all
// returns name, server, uri, to: where it is being moved, left: where it lived before and what is there is yet to be removed, move: the
//   move's id, begun [ms]; nodes, sources, notes: how many were moved
MATCH (t:Tenant) WHERE $tenant IS NULL OR t.name = $tenant
MATCH (s:Server {name: t.server})
RETURN t.name AS name, t.server AS server, s.uri AS uri, t.to AS to, t.left AS left, t.move AS move, t.begun.epochMillis AS begun,
       t.nodes AS nodes, t.sources AS sources, t.notes AS notes ORDER BY name
