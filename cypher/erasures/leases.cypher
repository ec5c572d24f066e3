// Remove leases by their names, whoever holds them.
// $scope: string    the scope that the names hold
// $kinds: list<string>    what is leased of it
UNWIND $kinds AS kind
MATCH (s:Scope {scope: $scope})
MATCH (l:Lease {name: kind + ' ' + s.scope})
DELETE l
