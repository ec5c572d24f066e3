// Let blocks be no part of the present tree.
// $scope: string    the scope
// $ids: list<string>    the blocks
UNWIND $ids AS id
MATCH (b:Block {scope: $scope, id: id})
SET b.state = 'gone'
