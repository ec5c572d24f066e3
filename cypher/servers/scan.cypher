// All that a server holds of a tenant, whatever it is: every node is looked at.
// $prefix: string    with which the names of its scopes begin
// $tenant: string    whose
// returns scope or null, label, number
MATCH (x) WHERE (x.scope STARTS WITH $prefix OR x.tenant = $tenant) AND NOT x:Presence
RETURN x.scope AS scope, labels(x)[0] AS label, count(*) AS number
