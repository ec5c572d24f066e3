// Remove blocks that are no part of the present tree, in transactions of their own.
// $scope: string    the scope
// $ids: list<string>    the blocks
// $rows: integer    blocks in one transaction
UNWIND $ids AS id
MATCH (b:Block {scope: $scope, id: id}) WHERE b.state = 'gone'
CALL (b) { DETACH DELETE b } IN TRANSACTIONS OF $rows ROWS
