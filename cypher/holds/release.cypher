// End a hold.
// $scope: string    the scope
// $id: string    the hold's id
// returns id; no row if there is no such hold
MATCH (h:Hold {scope: $scope, id: $id})
WITH h, h.id AS id
DELETE h
RETURN id
