// Give nodes vectors of this set, under the scope's lock: what has changed since it was read lacks them still.
// $scope: string    the scope
// $found: string    name of another set's vectors: a keyword rests here where it rests there
// $notes: list<map>    notes and former versions {stamp, raw, context: vectors}
// $keywords: list<map>    {id: its name, vector: null for one that has it}
// $claims: list<map>    {id, vector}
// $topics: list<map>    {id, vector, run: the last by then}
// $blocks: list<map>    {id, vector, made_from}: a mean of notes' vectors, also where it was of what a model wrote, which the next
//   build embeds anew
OPTIONAL MATCH (s:Scope {scope: $scope})  // none of an import that is not whole
SET s.lock = true
WITH coalesce(s.topics_run, '') AS run
// if $notes
CALL () {
  UNWIND $notes AS row
  CALL (row) {
    MATCH (n:Note {stamp: row.stamp}) WHERE n.scope = $scope RETURN n
    UNION ALL
    MATCH (n:Past {stamp: row.stamp}) WHERE n.scope = $scope RETURN n
  }
  CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw)
  CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context)
  RETURN count(*) AS noted
}
// end
// if $keywords
CALL () {
  UNWIND $keywords AS row
  MATCH (k:Keyword {scope: $scope, name: row.id})
  CALL (k, row) {
    WITH k, row WHERE row.vector IS NOT NULL AND k.embedding IS NULL
    CALL db.create.setNodeVectorProperty(k, 'resting', row.vector)
    RETURN count(*) AS set
  }
  WITH k, coalesce(k.embedding, k.resting) AS vector, k[$found] IS NOT NULL AS shared
  SET k.embedding = CASE WHEN shared THEN vector END, k.resting = CASE WHEN NOT shared THEN vector END
  RETURN count(*) AS named
}
// end
// if $claims
CALL () {
  UNWIND $claims AS row
  MATCH (c:Claim {scope: $scope, id: row.id})
  CALL db.create.setNodeVectorProperty(c, 'embedding', row.vector)
  RETURN count(*) AS claimed
}
// end
// if $topics
CALL (run) {
  UNWIND $topics AS row
  MATCH (t:Topic {scope: $scope, id: row.id}) WHERE row.run = run
  CALL db.create.setNodeVectorProperty(t, 'embedding', row.vector)
  RETURN count(*) AS found
}
// end
// if $blocks
CALL () {
  UNWIND $blocks AS row
  MATCH (b:Block {scope: $scope, id: row.id}) WHERE b.made_from = row.made_from
  SET b.embedded_as = null
  WITH b, row
  CALL db.create.setNodeVectorProperty(b, 'embedding', row.vector)
  RETURN count(*) AS built
}
// end
RETURN run
