// Really remove all receipts of a tenant.
// $tenant: string    whose
// returns removed
MATCH (r:Receipt {tenant: $tenant}) WHERE r.number >= 1
DELETE r
RETURN count(*) AS removed
