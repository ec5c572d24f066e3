// Lock a scope `s`, and go on only if nobody wrote since its version was read.
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE s.version = $version
