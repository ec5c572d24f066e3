// The id of a note that was, of the last one if there were several: undone, or having lost the source that is named.
// $scope: string    the scope
// $id: string    id of a note, or of a source that is gone
// returns note
CALL () {
  MATCH (p:Past {scope: $scope, id: $id}) RETURN p
  UNION
  MATCH (:PastSource {scope: $scope, id: $id})<-[:FROM]-(p:Past {scope: $scope}) RETURN p
}
RETURN p.id AS note ORDER BY p.recorded_at DESC, p.id LIMIT 1
