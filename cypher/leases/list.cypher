// The leases whose names begin with something, by the server's clock.
// $prefix: string    with which their names begin
// returns name, until [ms], lapsed (whether its holder is gone)
MATCH (l:Lease) WHERE l.name STARTS WITH $prefix
RETURN l.name AS name, l.until AS until, l.until < timestamp() AS lapsed ORDER BY name
