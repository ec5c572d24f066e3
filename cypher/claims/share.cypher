// Share the claims of a tenant's users among them, or let a user take part in that; or neither, from now on.
// $scope: string    the shared memory's for all users, else a user's
// $shares: boolean    true where all may share, else null
// $withholds: boolean    true where a user takes no part, else null
// returns scope
MATCH (s:Scope {scope: $scope})
SET s.shares_claims = $shares, s.withholds_claims = $withholds
RETURN s.scope AS scope
