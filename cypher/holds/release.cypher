// End a hold. What only the hold kept is due for the next sweep.
// $scope: string    the scope
// $id: string    the hold's id
// returns id; no row if there is no such hold
MATCH (h:Hold {scope: $scope, id: $id})
WITH h, h.id AS id
MATCH (s:Scope {scope: $scope})
SET s.next_expiry = datetime('0001-01-01T00:00:00Z')
DELETE h
RETURN id
