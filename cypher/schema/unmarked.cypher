// Have the notes read for claims again that were before schema 23, so that their claims are marked which users may share.
MATCH (s:Scope) WHERE s.claims_version IS NOT NULL
CALL (s) {
  SET s.claims_version = null
  WITH s
  MATCH (c:Claim {scope: s.scope}) WHERE c.id >= ''
  MATCH (c)<-[:SUPPORTS]-(n:Note)
  SET n.abstracted = null
} IN TRANSACTIONS OF 1 ROW
