// Cut the ties of notes that a decision made, for the undo of it.
// $write.cut: list<map>    {note, decision}
CALL () {
  UNWIND $write.cut AS row
  MATCH (n:Note {scope: $scope, id: row.note})-[r:RELATED|SUPERSEDES|UNTIED {decision: row.decision}]-(:Note)
  WITH DISTINCT r
  DELETE r
}
