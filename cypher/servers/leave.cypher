// Let a tenant be gone from a server; no row unless it has been stopped all the time, and the server's vectors are as they were.
// $tenant: string    whose
// $mover: integer    who moves it
// $vectors: integer    the set that was copied
// returns state
// use servers/mine
  AND m.state = 'stopped' AND m.until > timestamp()
  AND EXISTS { MATCH (s:Store {name: 'store'}) WHERE coalesce(s.vectors, 1) = $vectors }
SET m.state = 'gone'
RETURN m.state AS state
