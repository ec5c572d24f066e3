// Remove the leases of a tenant's scopes.
// $prefix: string    with which the names of these begin, behind a blank
MATCH (l:Lease) WHERE l.name CONTAINS $prefix
DELETE l
