// Store a key of a tenant; of its secret only the hash.
// $tenant: string    whose
// $id: string    the key's id
// $properties: map    {hash: SHA-256 of the secret, user: '' for the whole tenant, name, rights, created_at, expires_at, revoked_at}
// returns id
MERGE (k:Key {tenant: $tenant, id: $id})
ON CREATE SET k += $properties
RETURN k.id AS id
