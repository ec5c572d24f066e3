// Forget how others used the notes that an erasure of everything took, in transactions of their own. What was used since is a note of
// the same id that was made anew.
// $scope: string    the notes'
// $erasure: string    the erasure
// $begun: datetime    when it began
// $rows: integer    nodes in one transaction
MATCH (n:Erased {scope: $scope, erasure: $erasure}) WHERE n.raw IS NOT NULL
MATCH (u:Usage {id: n.id}) WHERE (u.scope = $scope OR $scope ENDS WITH '/' AND u.scope STARTS WITH $scope) // the tenant's readers
  AND NOT coalesce(u.last_shown > $begun, false) AND NOT coalesce(u.last_used > $begun, false)
WITH DISTINCT u
CALL (u) { DELETE u } IN TRANSACTIONS OF $rows ROWS
