// The keys of a tenant, the oldest first, revoked and ended ones too; without their hashes.
// $tenant: string    whose
// returns id, tenant, user, name, rights, created_at [ms], expires_at [ms], revoked_at [ms]
MATCH (k:Key {tenant: $tenant}) WHERE k.id >= ''
RETURN k.id AS id, k.tenant AS tenant, k.user AS user, k.name AS name, k.rights AS rights, k.created_at.epochMillis AS created_at,
       k.expires_at.epochMillis AS expires_at, k.revoked_at.epochMillis AS revoked_at
ORDER BY k.created_at, id
