// The scopes of a tenant that were written to since their topics were found.
// $tenant: string    the tenant
// returns scope
MATCH (s:Scope {tenant: $tenant}) WHERE s.changed_since > 0
RETURN s.scope AS scope ORDER BY scope
