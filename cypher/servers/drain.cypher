// Place no tenant on a server any more.
// $name: string    of the server
// returns name
MATCH (s:Server {name: $name})
SET s.drained = true
RETURN s.name AS name
