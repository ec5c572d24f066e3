// Store a key of a tenant; of its secret only the hash. That there was one is kept, also when it is removed.
// $tenant: string    whose
// $id: string    the key's id
// $properties: map    {hash: SHA-256 of the secret, user: '' for the whole tenant, name, rights, created_at, expires_at, revoked_at}
// returns id
MERGE (k:Key {tenant: $tenant, id: $id})
ON CREATE SET k += $properties
WITH k
OPTIONAL MATCH (s:Store {name: 'store'})
SET s.keyed = true
RETURN k.id AS id
