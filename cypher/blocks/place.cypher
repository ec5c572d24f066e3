// Let blocks be the present tree, each with its interval, and how far its parts are from each other, since another linkage gives the same
// block another distance; what has been changed in since it was written stays stale.
// $scope: string    the scope
// $rows: list<map>    {id, entered, left, distance}
UNWIND $rows AS row
MATCH (b:Block {scope: $scope, id: row.id})
SET b.entered = row.entered, b.left = row.left, b.distance = row.distance,
    b.state = CASE b.made_from WHEN '' THEN 'stale' ELSE 'live' END
