// The receipts of a tenant, the first before others.
// $tenant: string    whose
// $after: integer    the last number seen
// $limit: integer    how many
// returns receipt {number, id, previous, hash, body}
MATCH (r:Receipt {tenant: $tenant}) WHERE r.number > $after
WITH r ORDER BY r.number LIMIT $limit
RETURN r {.number, .id, .previous, .hash, .body} AS receipt ORDER BY r.number
