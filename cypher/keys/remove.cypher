// Remove a tenant's keys for good: those of a user of whom everything is erased, or all.
// $tenant: string    whose
// $user: string    the user, null for all keys of the tenant
// returns removed
MATCH (k:Key {tenant: $tenant}) WHERE k.id >= '' AND ($user IS NULL OR k.user = $user)
DELETE k
RETURN count(*) AS removed
