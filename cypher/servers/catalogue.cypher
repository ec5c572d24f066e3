// Name the catalogue that a server is of: clients that go to no tenant's server learn of it from what they ask next.
// $catalogue: string    where it answers
MATCH (s:Store {name: 'store'})
SET s.catalogue = $catalogue
