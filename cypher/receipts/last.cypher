// The last receipt of a tenant; no row if there is none.
// $tenant: string    whose
// returns number, hash
MATCH (r:Receipt {tenant: $tenant}) WHERE r.number >= 1
RETURN r.number AS number, r.hash AS hash ORDER BY number DESC LIMIT 1
