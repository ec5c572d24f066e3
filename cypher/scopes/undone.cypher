// What waits in the memories of a tenant, by the job that would do it: in how many memories, and since when in the first of them.
// $tenant: string    the tenant
// $cap: integer    readable notes of a scope without a cap of its own; 0 for any number
// $bytes: integer    bytes of a scope's readable notes, at most; 0 for any number
// $dimensions: integer    length of the embedder's vectors
// $alive: datetime    the present: what ends by then is no work but the sweep's
// returns job, memories, since [ms] or null where it is not known, notes (that are pending)
MATCH (s:Scope) WHERE s.tenant = $tenant
CALL (s) {
  MATCH (n:Note {scope: s.scope, status: 'pending'}) WHERE n.expires_at > $alive
  WITH min(n.created_at) AS since, count(n) AS notes WHERE notes > 0
  RETURN 'construct' AS job, since, notes
  UNION
  WITH s WHERE s.next_expiry <= $alive AND s.next_expiry > datetime('0001-01-01T00:00:00Z')
  RETURN 'expire' AS job, s.next_expiry AS since, 0 AS notes
  UNION
  MATCH (e:Erasure {scope: s.scope}) WHERE e.id >= ''
  WITH min(e.begun) AS since WHERE since IS NOT NULL
  RETURN 'erase' AS job, since, 0 AS notes
  UNION
  WITH s WHERE
  // use scopes/crowded
  RETURN 'evict' AS job, null AS since, 0 AS notes
}
RETURN job, count(*) AS memories, min(since).epochMillis AS since, sum(notes) AS notes ORDER BY job
