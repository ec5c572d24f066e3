// Store what notes claim, under the scope's lock: not of one that has changed since it was read, or can be read no more. A note
// supports what it claims as it is, and nothing else. Claims that lose their last note go. A mark says what a user's claim has in
// common with those of others of his tenant, of a claim as it is worded and of each note as it words it.
// $scope: string    the scope
// $cycle: integer    number of the run
// $rows: list<map>    {id, stamp, claims: [{id, kind, text, subject, object, subject_key, object_key, shared_as: null for none, vector: null where it is stored}]}
// $alive: datetime    the present: what ends by then can't be read
// returns notes: how many were still as they were read
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s
CALL (s) {
  UNWIND $rows AS row
  MATCH (n:Note {scope: $scope, id: row.id})
  WHERE n.stamp = row.stamp AND n.status = 'active' AND n.expires_at > $alive AND n.apart IS NULL
  SET n.abstracted = row.stamp
  WITH n, row
  CALL (n, row) {
    MATCH (n)-[r:SUPPORTS]->(c:Claim) WHERE NOT c.id IN [one IN row.claims | one.id]
    DELETE r
    WITH DISTINCT c WHERE NOT EXISTS { (c)<-[:SUPPORTS]-() }
    DELETE c
  }
  CALL (n, row) {
    UNWIND row.claims AS one
    MERGE (c:Claim {scope: $scope, id: one.id})
    ON CREATE SET c.kind = one.kind, c.text = one.text, c.subject = one.subject, c.object = one.object,
      c.subject_key = one.subject_key, c.object_key = one.object_key
    MERGE (n)-[r:SUPPORTS]->(c)
    ON CREATE SET c.found_in = $cycle
    SET r.stamp = row.stamp, r.shared_as = one.shared_as
    SET c.shared_as = CASE WHEN c.text = one.text THEN coalesce(one.shared_as, c.shared_as) ELSE c.shared_as END
    SET c.shared_in = CASE WHEN c.shared_as IS NULL THEN null ELSE split($scope, '/')[0] + '/' END
    WITH c, one WHERE c.embedding IS NULL
    CALL db.create.setNodeVectorProperty(c, 'embedding', one.vector)
  }
  RETURN count(n) AS notes
}
RETURN notes
