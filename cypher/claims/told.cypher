// Claims with the notes that support them, as these were when they were read for claims: those that can be read, and those in the
// archive, which a cap or little use puts there; what has ended, was deleted or replaced, or is kept apart, supports none.
// $scopes: list<string>    the scopes read
// $ids: list<string>    of some claims, null for all
// $after: string    scope and id of the last claim seen, with a blank between
// $limit: integer    claims on a page
// $alive: datetime    the present: what ends by then can't be read
// returns claim {scope, id, kind, text, subject, object}, idle: runs without new evidence, support [{id, session, at [ms], stamp,
//   made_by: the model that found it there, '' for patterns, reworded: whether it says so in other words, from: of its sources {kind, role, trust_as}}]
MATCH (s:Scope) WHERE s.scope IN $scopes
MATCH (c:Claim {scope: s.scope}) WHERE c.id >= '' AND ($ids IS NULL OR c.id IN $ids) AND c.scope + ' ' + c.id > $after
WITH s, c ORDER BY c.scope, c.id LIMIT $limit
RETURN c {.scope, .id, .kind, .text, .subject, .object} AS claim, coalesce(s.claims_cycle, 0) - c.found_in AS idle, COLLECT {
  MATCH (c)<-[r:SUPPORTS]-(n:Note {scope: c.scope})
  WHERE n.status IN ['active', 'archived'] AND n.expires_at > $alive AND n.apart IS NULL AND n.stamp = r.stamp
  RETURN n {.id, .session, .stamp, at: n.said_at.epochMillis, made_by: coalesce(r.made_by, ''), reworded: coalesce(r.reworded, false),
            from: [(n)-[:SUMS*0..1]->()-[:FROM]->(x:Source) | x {.kind, .role, .trust_as}]} ORDER BY n.said_at, n.id
} AS support
ORDER BY claim.scope, claim.id
