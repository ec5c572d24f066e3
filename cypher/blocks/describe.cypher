// Store what a chat model wrote of blocks, under the scope's lock: not of one of which a note has changed since it was read.
// $scope: string    the scope
// $described_as: string    the schema by which it was written
// $rows: list<map>    {id, made_from, described: the fields, JSON, described_by: the model}
// returns id: of what was stored
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s
UNWIND $rows AS row
MATCH (b:Block {scope: $scope, id: row.id}) WHERE b.made_from = row.made_from
SET b.described = row.described, b.described_by = row.described_by, b.described_as = $described_as
RETURN b.id AS id
