// A page of all that a scope says, by the ids of notes and sources: for the check that nothing erased is left.
// $scope: string    the scope
// $after: string    the last id seen
// $limit: integer    ids on a page
// returns id, said [texts of sources, and what a user wrote of a note], made [all other texts], hidden (how many are to be erased)
CALL () {
  MATCH (x:Note {scope: $scope}) WHERE x.id > $after RETURN x.id AS id ORDER BY id LIMIT $limit
  UNION
  MATCH (x:Past {scope: $scope}) WHERE x.id > $after RETURN x.id AS id ORDER BY id LIMIT $limit
  UNION
  MATCH (x:Source {scope: $scope}) WHERE x.id > $after RETURN x.id AS id ORDER BY id LIMIT $limit
  UNION
  MATCH (x:PastSource {scope: $scope}) WHERE x.id > $after RETURN x.id AS id ORDER BY id LIMIT $limit
}
WITH DISTINCT id ORDER BY id LIMIT $limit
RETURN id,
       COLLECT { MATCH (x:Source|PastSource {scope: $scope, id: id}) RETURN x.text + ' ' + coalesce(x.caption, '') }
       + COLLECT { MATCH (x:Note|Past {scope: $scope, id: id}) WHERE x.constructed_by = 'user' UNWIND x.raw AS said RETURN said } AS said,
       COLLECT { MATCH (x:Note|Past {scope: $scope, id: id}) UNWIND x.raw + [x.context] AS made RETURN made } AS made,
       COUNT { MATCH (x:Note|Past|Source|PastSource {scope: $scope, id: id}) WHERE x.erase_at = datetime('0001-01-01T00:00:00Z') } AS hidden
ORDER BY id
