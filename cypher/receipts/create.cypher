// Write a receipt of an erasure, unless another has that number.
// $tenant: string    whose chain it is
// $number: integer    its place in the chain
// $properties: map    what it says {id, previous, hash, body: JSON}
// returns id: of the receipt that has the number
MERGE (r:Receipt {tenant: $tenant, number: $number})
ON CREATE SET r += $properties
RETURN r.id AS id
