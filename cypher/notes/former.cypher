// The id of a note that was, of the last one if there were several (of a long message the first passage's): undone, or
// having lost the source that is named.
// $scope: string    the scope
// $id: string    id of a note, or of a source that is gone
// $alive: datetime    the present: what is to be erased by then is gone
// returns note
CALL () {
  MATCH (p:Past {scope: $scope, id: $id}) WHERE p.erase_at > $alive RETURN p, 0 AS part
  UNION
  MATCH (:PastSource {scope: $scope, id: $id})<-[f:FROM]-(p:Past {scope: $scope}) WHERE p.erase_at > $alive RETURN p, coalesce(f.part, 0) AS part
}
RETURN p.id AS note ORDER BY p.recorded_at DESC, part, p.id LIMIT 1
