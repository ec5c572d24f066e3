// Lock a scope: whoever writes to it waits until this transaction ends.
// $scope: string    the scope
MATCH (s:Scope {scope: $scope})
SET s.lock = true
