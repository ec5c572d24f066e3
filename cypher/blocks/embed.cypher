// Give blocks other vectors, under the scope's lock: not one of which a note has changed since it was read.
// $scope: string    the scope
// $embedded_as: string    the schema by which they are those of what the blocks tell, '' for means of their notes' vectors
// $rows: list<map>    {id, made_from, vector}
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s
UNWIND $rows AS row
MATCH (b:Block {scope: $scope, id: row.id}) WHERE b.made_from = row.made_from
SET b.embedded_as = $embedded_as
// use writes/outdate node=b
WITH b, row
CALL db.create.setNodeVectorProperty(b, 'embedding', row.vector)
