// Change how many active notes carry both of two keywords; a pair that no note carries is gone.
// $scope: string    the scope
// $rows: list<map>    {a, b, change}, a before b in the order of strings
UNWIND $rows AS row
MATCH (a:Keyword {scope: $scope, name: row.a})
MATCH (b:Keyword {scope: $scope, name: row.b})
MERGE (a)-[r:CO_OCCUR]->(b)
ON CREATE SET r.weight = 0
SET r.weight = r.weight + row.change
WITH r WHERE r.weight <= 0
DELETE r
