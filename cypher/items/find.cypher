// Items that can be read, by the ids of their sources.
// $scope: string    the scope
// $ids: list<string>    the sources
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ends by then can't be read
// returns scope, source
UNWIND $ids AS id
MATCH (x:Source {scope: $scope, id: id}) WHERE x.kind = 'item'
  AND EXISTS { MATCH (x)<-[:FROM]-(n:Note) WHERE n.status IN $statuses AND n.expires_at > $alive }
RETURN x.scope AS scope,
       x {.*, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} AS source
