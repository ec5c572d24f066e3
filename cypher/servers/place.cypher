// Let a tenant live on a server, unless it lives on one.
// $tenant: string    whose
// $server: string    its name
// returns server: where it lives
MERGE (t:Tenant {name: $tenant})
ON CREATE SET t.server = $server
RETURN t.server AS server
