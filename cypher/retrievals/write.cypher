// Write what a reader was given. What an erasure has taken meanwhile is left out, and the words of a question that led to it; of a
// retrieval that gave nothing else there is no node.
// $scope: string    the reader's
// $scopes: list<string>    those that it reads
// $rows: list<map>    {id, properties, question or null, notes: [{id, recorded_at: by which the version is known, utility of all or of none}]}
// $alive: datetime    the present: what is to be erased by then is gone
// returns written
UNWIND $rows AS row
CALL (row) {
  UNWIND range(0, size(row.notes) - 1) AS place
  WITH row.notes[place] AS given, place
  CALL (given) {
    MATCH (n:Note|Past {id: given.id}) WHERE n.scope IN $scopes AND (n.erase_at > $alive OR n.kept_expires IS NOT NULL)
    RETURN n.revision AS revision ORDER BY n.recorded_at > given.recorded_at, n.revision DESC LIMIT 1
  }
  WITH given, revision, place ORDER BY place
  RETURN collect(given.id) AS notes, collect(revision) AS revisions, collect(given.utility) AS utilities
}
WITH row, notes, revisions, utilities WHERE size(notes) > 0
MERGE (r:Retrieval {scope: $scope, id: row.id})
SET r += row.properties, r.notes = notes, r.revisions = revisions,
    r.utilities = CASE WHEN size(utilities) > 0 THEN utilities END,
    r.question = CASE WHEN size(notes) = size(row.notes) THEN row.question END
RETURN count(r) AS written
