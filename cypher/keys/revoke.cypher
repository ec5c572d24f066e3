// End a key now; one that was revoked before stays as it is.
// $tenant: string    whose
// $id: string    the key's id
// $now: datetime    since when it is refused
// returns id, tenant, user, name, rights, created_at [ms], expires_at [ms], revoked_at [ms]; no row if there is no such key
MATCH (k:Key {tenant: $tenant, id: $id})
SET k.revoked_at = CASE WHEN k.revoked_at < $now THEN k.revoked_at ELSE $now END
RETURN k.id AS id, k.tenant AS tenant, k.user AS user, k.name AS name, k.rights AS rights, k.created_at.epochMillis AS created_at,
       k.expires_at.epochMillis AS expires_at, k.revoked_at.epochMillis AS revoked_at
