// Make a scope, or lock it if it is there, to put into it what stood under another name.
// $scope: string    the scope
// returns id: its place in the store, version: 0 for a new one
MERGE (s:Scope {scope: $scope})
SET s.lock = true
RETURN elementId(s) AS id, coalesce(s.version, 0) AS version
