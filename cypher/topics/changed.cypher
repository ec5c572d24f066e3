// The scopes of a tenant that were written to since their topics were found.
// $tenant: string    the tenant
// returns user
MATCH (s:Scope {tenant: $tenant}) WHERE s.changed_since > 0
RETURN s.user AS user ORDER BY user
