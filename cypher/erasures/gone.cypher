// The notes of a scope that are to be erased by a time and are still there, in any version: of none of them another is left. Those that are
// made anew are none of them.
// $scope: string    the scope
// $by: datetime    the time; the year 1 for those that are hidden
// returns id
CALL () {
  MATCH (n:Note {scope: $scope}) WHERE n.erase_at <= $by AND n.kept_expires IS NULL RETURN n.id AS id
  UNION
  MATCH (p:Past {scope: $scope}) WHERE p.erase_at <= $by RETURN p.id AS id
  UNION
  MATCH (x:Erased {scope: $scope}) WHERE x.erasure >= '' AND x.raw IS NOT NULL RETURN x.id AS id
}
WITH id WHERE NOT EXISTS { MATCH (n:Note|Past {scope: $scope, id: id}) WHERE n.erase_at > $by OR n.kept_expires IS NOT NULL }
RETURN id ORDER BY id
