// Put keywords into topics; one that is gone by now is left out.
// $scope: string    the scope
// $rows: list<map>    {name, topic}
UNWIND $rows AS row
MATCH (k:Keyword {scope: $scope, name: row.name})
MATCH (t:Topic {scope: $scope, id: row.topic})
MERGE (k)-[:IN_TOPIC]->(t)
