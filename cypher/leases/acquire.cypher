// Take a lease by the server's clock, or extend one's own: no row while another holds it, or where it was given back, and so
// removed, while this waited for its lock: what is set of a node that is gone is nothing.
// $name: string    what is leased
// $holder: string    who asks
// $milliseconds: integer    for how long
// returns until
MERGE (l:Lease {name: $name})
SET l.lock = true
WITH l WHERE l.holder IS NULL OR l.holder = $holder OR l.until < timestamp()
SET l.holder = $holder, l.until = timestamp() + $milliseconds
WITH l WHERE l.until IS NOT NULL
RETURN l.until AS until
