// Give a scope a cap of its own.
// $scope: string    the scope
// $cap: integer    readable notes that it holds at most, 0 for any number, null for the setting's
// returns cap
MATCH (s:Scope {scope: $scope})
SET s.cap = $cap
RETURN s.cap AS cap
