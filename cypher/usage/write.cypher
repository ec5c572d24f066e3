// Write how a reader has used some notes, which are locked.
// $scope: string    the reader's
// $rows: list<map>    {id, properties}
UNWIND $rows AS row
MATCH (u:Usage {scope: $scope, id: row.id})
SET u += row.properties, u.lock = null
