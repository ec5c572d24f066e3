// Every decision about a note, oldest first, also those of its earlier lives, with what it was to the note.
// $scope: string    the scope
// $id: string    id of the note
// returns decision, role, revision
CALL () {
  MATCH (n:Note {scope: $scope, id: $id}) RETURN n
  UNION
  MATCH (n:Past {scope: $scope, id: $id}) RETURN n
}
MATCH (d:Decision)-[a:ABOUT]->(n)
RETURN d {.*, at: d.at.epochMillis} AS decision, a.role AS role, a.revision AS revision
ORDER BY d.version, d.place, a.revision
