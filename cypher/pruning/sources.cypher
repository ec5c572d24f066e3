// Remove sources that were taken out, once no version of a note tells them any more.
// $scope: string    the scope
// $before: datetime    until when a source must have been taken out
// $rows: integer    how many at once
// returns removed
MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' AND x.superseded_at < $before
  AND NOT EXISTS { (x)<-[:WAS]-(:Source) } AND NOT EXISTS { (x)<-[:FROM]-() }
WITH x LIMIT $rows
DETACH DELETE x
RETURN count(*) AS removed
