// Take ties back: as UNTIED they keep all that they held, and are not made again (docs/changes.md, Untie).
// $write.untie: list<map>    ties to take back {newer, older, decision}
// $write.loosen: list<map>    notes that say something else now {note, decision, sources: those that still tell it, or null}; the changes
//   and conflicts that were judged by other words are taken back
CALL () {
  CALL () {
    UNWIND $write.untie AS row
    MATCH (d:Decision {scope: $scope, id: row.decision})
    MATCH (n:Note {scope: $scope, id: row.newer})
    MATCH (o:Note {scope: $scope, id: row.older})
    MATCH (n)-[r:RELATED|SUPERSEDES]->(o)
    RETURN d, r
    UNION
    UNWIND $write.loosen AS row
    MATCH (d:Decision {scope: $scope, id: row.decision})
    MATCH (x:Note {scope: $scope, id: row.note})-[r:RELATED]-(:Note)
    // what ceased to be true is quoted by its words, and only as long as the note has them
    WHERE r.kind IN ['change', 'conflict'] AND NOT (r.former IS NOT NULL AND endNode(r) = x)
      AND (row.sources IS NULL OR (startNode(r) = x AND NOT EXISTS {
        MATCH (:Decision {scope: $scope, id: r.decision})-[:ABOUT {role: 'source'}]->(s:Source) WHERE s.id IN row.sources
      }))
    RETURN d, r
  }
  WITH d, r, startNode(r) AS n, endNode(r) AS o
  CREATE (n)-[u:UNTIED]->(o)
  SET u = properties(r), u.was = type(r), u.untied_by = d.id
  DELETE r
  // use writes/about_ends role=untied
}
