// Tie notes that a decision made or changed to older ones. Two notes are RELATED once, in whichever direction, and no more once they
// are UNTIED (MemFly, section 3.3.2; docs/changes.md).
// $write.relate: list<map>    {new, old, score, kind (link, change, conflict or supersede), decision, former: words of the older one that
//   a change makes untrue, '' for all}
CALL () {
  UNWIND $write.relate AS row
  MATCH (n:Note {scope: $scope, id: row.new})
  MATCH (o:Note {scope: $scope, id: row.old})
  CALL (n, o, row) {
    WITH n, o, row WHERE row.kind = 'supersede'
    MERGE (n)-[s:SUPERSEDES]->(o) ON CREATE SET s.decision = row.decision, s.score = row.score
  }
  CALL (n, o, row) {
    WITH n, o, row WHERE row.kind <> 'supersede' AND NOT EXISTS { (o)-[:RELATED]->(n) } AND NOT EXISTS { (o)-[:UNTIED]-(n) }
    MERGE (n)-[r:RELATED]->(o) ON CREATE SET r.decision = row.decision, r.score = row.score, r.kind = row.kind,
      r.former = CASE row.former WHEN '' THEN null ELSE row.former END
  }
}
