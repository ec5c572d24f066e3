// The users of a tenant who were ever written to, by name.
// $tenant: string    the tenant
// returns id, notes
MATCH (s:Scope {tenant: $tenant}) WHERE s.user <> ''
RETURN s.user AS id, s.notes AS notes ORDER BY id
