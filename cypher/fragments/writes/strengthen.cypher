// Give ties a higher score, each once: it keeps the score `before` (docs/lifecycle.md, Evolution).
// $write.strengthen: list<map>    {new, old, score, decision}
CALL () {
  UNWIND $write.strengthen AS row
  MATCH (:Note {scope: $scope, id: row.new})-[r:RELATED]->(:Note {scope: $scope, id: row.old}) WHERE r.strengthened_by IS NULL
  SET r.before = r.score, r.score = row.score, r.strengthened_by = row.decision
}
