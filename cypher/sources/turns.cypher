// What stands around some sources in their conversations: the turn before, and the notes of the turns after.
// $scope: string    the scope
// $ids: list<string>    the sources
// $statuses: list<string>    of notes that can be read
// $followers: list<string>    that the notes of the turns after may have: what was true once can be read of its time
// returns id, previous [source with readable] or null, followers [ids of notes]
UNWIND $ids AS id
MATCH (x:Source {scope: $scope, id: id})
RETURN id,
       head([(p:Source)-[:NEXT]->(x) | p {.*, said_at: p.said_at.epochMillis,
              readable: EXISTS { (p)<-[:FROM]-(n:Note) WHERE n.status IN $statuses }}]) AS previous,
       COLLECT { MATCH (x)-[:NEXT]->(:Source)<-[:FROM]-(f:Note) WHERE f.status IN $followers RETURN DISTINCT f.id } AS followers
