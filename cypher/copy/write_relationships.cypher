// Write relationships as they were.
// $rows: list<map>    {a, b: ids of the nodes here, kind, properties}
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.a
MATCH (b) WHERE elementId(b) = row.b
CREATE (a)-[r:$(row.kind)]->(b)
SET r = row.properties
