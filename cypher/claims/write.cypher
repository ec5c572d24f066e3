// Store what notes claim, under the scope's lock: not of one that has changed since it was read, or can be read no more. A note
// supports what it claims as it is, and nothing else, but what a model found in the same words: asked again, it may say less. What
// a note says in other words it supports where the claim still is, else it is read again; so it is where a claim that was stored has
// gone meanwhile, with its vector. Claims that lose their last note go. A mark says what a user's claim has in common with those of
// others of his tenant, of a claim as it is worded and of each note as it words it; what a model found has none.
// $scope: string    the scope
// $cycle: integer    number of the run
// $rows: list<map>    {id, stamp, recalled: whether it was read before and what it says is evidence again, done: whether no model is to read it in the next run, claims: [{id, kind, text, subject, object,
//   subject_key, object_key, shared_as: null for none, vector: null where it is stored, made_by: the model, null for patterns, reworded}]}
// $alive: datetime    the present: what ends by then can't be read
// returns notes: how many were still as they were read, done: how many of these are
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s
CALL (s) {
  UNWIND $rows AS row
  MATCH (n:Note {scope: $scope, id: row.id})
  WHERE n.stamp = row.stamp AND n.status IN ['active', 'archived'] AND n.expires_at > $alive AND n.apart IS NULL
  SET n.abstracted = CASE WHEN row.done THEN row.stamp END
  WITH n, row
  CALL (n, row) {
    MATCH (n)-[r:SUPPORTS]->(c:Claim)
    WHERE NOT c.id IN [one IN row.claims | one.id] AND NOT (r.made_by IS NOT NULL AND r.stamp = row.stamp)
    DELETE r
    RETURN collect(c) AS some
  }
  CALL (n, row) {
    UNWIND [one IN row.claims WHERE NOT one.reworded] AS one
    OPTIONAL MATCH (known:Claim {scope: $scope, id: one.id})
    SET n.abstracted = CASE WHEN known IS NULL AND one.vector IS NULL THEN null ELSE n.abstracted END
    WITH n, row, one, known WHERE known IS NOT NULL OR one.vector IS NOT NULL
    MERGE (c:Claim {scope: $scope, id: one.id})
    ON CREATE SET c.kind = one.kind, c.text = one.text, c.subject = one.subject, c.object = one.object,
      c.subject_key = one.subject_key, c.object_key = one.object_key
    MERGE (n)-[r:SUPPORTS]->(c)
    ON CREATE SET c.found_in = $cycle
    SET r.stamp = row.stamp, r.made_by = one.made_by, r.reworded = null, r.shared_as = one.shared_as
    SET c.found_in = CASE WHEN row.recalled THEN $cycle ELSE c.found_in END
    SET c.shared_as = CASE WHEN c.text = one.text THEN coalesce(one.shared_as, c.shared_as) ELSE c.shared_as END
    SET c.shared_in = CASE WHEN c.shared_as IS NULL THEN null ELSE split($scope, '/')[0] + '/' END
    WITH c, one WHERE c.embedding IS NULL
    CALL db.create.setNodeVectorProperty(c, 'embedding', one.vector)
  }
  RETURN collect({note: n, row: row}) AS written, collect(some) AS left
}
// only now: what one note has lost another of them may say
CALL (left) {
  UNWIND left AS some
  UNWIND some AS c
  WITH DISTINCT c WHERE NOT EXISTS { (c)<-[:SUPPORTS]-() }
  DELETE c
}
CALL (written) {
  UNWIND written AS of
  WITH of.note AS n, of.row AS row
  UNWIND [one IN row.claims WHERE one.reworded] AS one
  OPTIONAL MATCH (c:Claim {scope: $scope, id: one.id})
  SET n.abstracted = CASE WHEN c IS NULL THEN null ELSE n.abstracted END
  WITH n, row, one, c WHERE c IS NOT NULL
  MERGE (n)-[r:SUPPORTS]->(c)
  ON CREATE SET c.found_in = $cycle
  SET r.stamp = row.stamp, r.made_by = one.made_by, r.reworded = true, r.shared_as = null
}
RETURN size(written) AS notes, size([of IN written WHERE of.row.done]) AS done
