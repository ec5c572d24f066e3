// Remove the sources that are erased, and former versions, in transactions of their own: their notes are gone already.
// $scope: string    the scope
// $rows: integer    nodes in one transaction
CALL () {
  MATCH (x:Past {scope: $scope, erase_at: datetime('0001-01-01T00:00:00Z')}) RETURN x
  UNION ALL
  MATCH (x:Source {scope: $scope, erase_at: datetime('0001-01-01T00:00:00Z')}) RETURN x
  UNION ALL
  MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' AND x.erase_at = datetime('0001-01-01T00:00:00Z') RETURN x
}
CALL (x) { DETACH DELETE x } IN TRANSACTIONS OF $rows ROWS
