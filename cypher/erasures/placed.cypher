// Which of some folders that were ingested have a document that stays, if only as a former text.
// $scope: string    the scope
// $ids: list<string>    the folders
// returns id
UNWIND $ids AS id
WITH id WHERE EXISTS { MATCH (x:Source {scope: $scope}) WHERE x.session STARTS WITH id + '/' AND x.seq >= 0 AND x.erase_at > datetime('0001-01-01T00:00:00Z') }
  OR EXISTS { MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' AND x.session STARTS WITH id + '/' AND x.erase_at > datetime('0001-01-01T00:00:00Z') }
RETURN id
