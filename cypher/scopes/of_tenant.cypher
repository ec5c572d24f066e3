// All scopes of a tenant: its users' and the shared one.
// $tenant: string    the tenant
// returns scope
MATCH (s:Scope {tenant: $tenant})
RETURN s.scope AS scope ORDER BY scope
