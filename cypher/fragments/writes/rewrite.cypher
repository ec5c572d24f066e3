// Give sources a new text. It comes after writes/revise: former versions of notes come from the former text.
// $write.rewrite: list<map>    {id, text, hash, tags, metadata, cuts (before which characters it is cut, or null), expires_as [ms or
//   null], parted: notes that go on telling the former text, returned: notes that told this text before, and tell it again}
CALL () {
  UNWIND $write.rewrite AS row
  MATCH (x:Source {scope: $scope, id: row.id})
  CREATE (s:PastSource)
  SET s = properties(x), s.superseded_at = $now
  CREATE (x)-[:WAS]->(s)
  SET x.text = row.text, x.hash = row.hash, x.cuts = row.cuts, x.tags = row.tags, x.metadata = row.metadata,
      x.expires_as = row.expires_as
  WITH x, s, row
  CALL (x, s, row) {
    MATCH (n:Note|Past)-[f:FROM]->(x) WHERE n:Past OR n.id IN row.parted
    CREATE (n)-[:FROM {part: f.part}]->(s)
    DELETE f
  }
  CALL (x, row) {
    MATCH (x)-[:WAS]->(:PastSource {hash: row.hash})<-[f:FROM]-(n:Note) WHERE n.id IN row.returned
    CREATE (n)-[:FROM {part: f.part}]->(x)
    DELETE f
  }
}
