// Remove what is recorded of retrievals, the budget of which is over.
// $scope: string    the reader's
// $before: datetime    until when a retrieval must have been
// $rows: integer    how many at once
// returns removed
MATCH (r:Retrieval {scope: $scope}) WHERE r.at < $before
WITH r LIMIT $rows
DELETE r
RETURN count(*) AS removed
