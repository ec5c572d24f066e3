// Write nodes as they were. Vectors are set by the procedure that keeps them in four bytes a number.
// $rows: list<map>    {id, labels, properties, vectors: [[name, numbers]]}
// returns id, written (its id here)
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties
WITH n, row
CALL (n, row) {
  UNWIND row.vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector[0], vector[1])
}
RETURN row.id AS id, elementId(n) AS written
