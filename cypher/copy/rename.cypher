// Give nodes that stand under one scope's name that of another.
// $scope: string    as they are called now
// $name: string    the scope that they come into
// $ids: list<string>    their places in the store
// returns renamed: how many were there
UNWIND $ids AS id
MATCH (x) WHERE elementId(x) = id AND x.scope = $scope
SET x.scope = $name
RETURN count(x) AS renamed
