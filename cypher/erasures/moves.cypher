// Change which moves of keywords a run of the topics names.
// $scope: string    the scope
// $id: string    the run
// $moves: string    JSON
// returns id
MATCH (r:Run {scope: $scope, id: $id})
SET r.moves = $moves
RETURN r.id AS id
