// The key whose secret has a hash, whichever tenant's, revoked and ended ones too; no row if there is none.
// $hash: string    SHA-256 of the secret
// returns id, tenant, user, name, rights, created_at [ms], expires_at [ms], revoked_at [ms]
MATCH (k:Key {hash: $hash})
RETURN k.id AS id, k.tenant AS tenant, k.user AS user, k.name AS name, k.rights AS rights, k.created_at.epochMillis AS created_at,
       k.expires_at.epochMillis AS expires_at, k.revoked_at.epochMillis AS revoked_at
