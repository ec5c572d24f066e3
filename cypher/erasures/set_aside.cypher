// Begin an erasure of everything: each node that the scope holds is Erased from now on, and nothing else. So no read finds it, and
// what is written later is no part of it. The scope stays, as empty as a new one. Its version moves on, so that a write that was
// prepared before is prepared anew, and so do its last runs, so that one of the topics or blocks is. Nothing happens, and there is no row, if
// somebody wrote since the scope's version was read.
// $scope: string    the scope
// $version: integer    as it was when the plan was made
// $id: string    the erasure's id
// $properties: map    the erasure's own
// returns version: what it is now
// use scopes/at_version
MERGE (e:Erasure {scope: $scope, id: $id})
SET e += $properties
WITH s
CALL (s) {
  CALL (s) {
    // use scopes/members
    UNION ALL
    MATCH (s)-[:SPENT]->(x:Spending) RETURN x
  }
  REMOVE x:Past:PastSource:Note:Source:Keyword:Topic:Run:Block:BlockRun:Claim:Hold:Usage:Retrieval:Decision:Spending
  SET x:Erased, x.erasure = $id
}
SET s = {scope: $scope, tenant: s.tenant, user: s.user, language: s.language, version: s.version + 1, notes: 0, raw_length: 0,
         context_length: 0, changed_since: 1, notes_since: 0, topics_run: $id, blocks_run: $id}
RETURN s.version AS version
