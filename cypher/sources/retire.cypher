// Take sources out of the memory, as when their coming is undone: each becomes its own PastSource; its turn is closed up.
// $scope: string    the scope
// $ids: list<string>    the sources
// $now: datetime    the time of the change
UNWIND $ids AS id
MATCH (x:Source {scope: $scope, id: id})
SET x.superseded_at = $now
REMOVE x:Source
SET x:PastSource
WITH x
OPTIONAL MATCH (p:Source)-[before:NEXT]->(x)
OPTIONAL MATCH (x)-[after:NEXT]->(y:Source)
DELETE before, after
WITH p, y WHERE p IS NOT NULL AND y IS NOT NULL
MERGE (p)-[:NEXT]->(y)
