// A page of the items of scopes that can be read, those that changed last first.
// $scopes: list<string>    the scopes read
// $prefix: string    what the ids of items begin with
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ends by then can't be read
// $start: integer    how many are on the pages before
// $limit: integer    items on a page
// returns scope, source
MATCH (x:Source) WHERE x.scope IN $scopes AND x.id STARTS WITH $prefix AND x.kind = 'item'
MATCH (x)<-[:FROM]-(n:Note) WHERE n.status IN $statuses AND n.expires_at > $alive
WITH x, max(n.recorded_at) AS changed
ORDER BY changed DESC, x.scope, x.id SKIP $start LIMIT $limit
RETURN x.scope AS scope,
       x {.*, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} AS source
