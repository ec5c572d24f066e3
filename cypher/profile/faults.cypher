// Decisions that tell of a profile by a source that was removed.
// $scope: string    the scope
// returns id
MATCH (d:Decision {scope: $scope}) WHERE d.subject IS NOT NULL AND size(d.sources) > 0
  AND NOT EXISTS { MATCH (:Source|PastSource {scope: $scope, id: d.sources[0]}) }
RETURN d.id AS id ORDER BY id
