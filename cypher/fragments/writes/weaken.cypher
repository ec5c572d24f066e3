// Give the ties of notes that a decision strengthened the scores that they had before.
// $write.weaken: list<map>    {note, decision}
CALL () {
  UNWIND $write.weaken AS row
  MATCH (:Note {scope: $scope, id: row.note})-[r:RELATED|UNTIED {strengthened_by: row.decision}]-(:Note)
  WITH DISTINCT r
  SET r.score = r.before, r.before = null, r.strengthened_by = null
}
