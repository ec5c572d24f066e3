// Give a lease back.
// $name: string    what is leased
// $holder: string    who held it
MATCH (l:Lease {name: $name, holder: $holder})
DELETE l
