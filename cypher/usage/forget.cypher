// Forget how anybody used the notes that an erasure is about to remove, in transactions of their own.
// $scope: string    the notes'
// $rows: integer    nodes in one transaction
MATCH (n:Note {scope: $scope, erase_at: datetime('0001-01-01T00:00:00Z')}) WHERE n.kept_expires IS NULL
MATCH (u:Usage {id: n.id}) WHERE u.scope = $scope OR $scope ENDS WITH '/' AND u.scope STARTS WITH $scope // the tenant's readers
CALL (u) { DELETE u } IN TRANSACTIONS OF $rows ROWS
