// The scopes with work for a worker: notes to construct, notes that may have expired, or writes since their topics were
// found; the longest first.
// $tenant: string    the tenant, or null for all of them
// $unpruned: datetime    since when history must have been pruned, or that is work; null where it is kept for ever
// $unweighed: datetime    since when the utilities of notes must have been looked at, or that is work; null where nothing is pruned
// $cap: integer    readable notes of a scope without a cap of its own; 0 for any number
// $bytes: integer    bytes of a scope's readable notes, at most; 0 for any number
// $dimensions: integer    length of the embedder's vectors
// $blocks: integer    after how many writes a scope's blocks are built; 0 for never
// $claims: integer    after how many writes a scope's claims are looked for; 0 for never
// $evolve: integer    after how many new messages a scope evolves; 0 for never
// $alive: datetime    the present: what ends by then is no work but the sweep's
// returns tenant, user, notes (that are pending), pending, expiring, erasing (since when) [ms] or null, crowded (is above its cap), evolving, unbuilt, unclaimed, changed_since, notes_since, ran, pruned, weighed [ms] or null for never
MATCH (s:Scope) WHERE $tenant IS NULL OR s.tenant = $tenant
CALL (s) {
  MATCH (n:Note {scope: s.scope, status: 'pending'}) WHERE n.expires_at > $alive
  RETURN count(n) AS notes, min(n.created_at).epochMillis AS pending
}
WITH s, notes, pending, CASE WHEN s.next_expiry <= $alive THEN s.next_expiry.epochMillis END AS expiring,
     // use scopes/crowded
     AS crowded,
     head(COLLECT { MATCH (e:Erasure {scope: s.scope}) WHERE e.id >= '' RETURN min(e.begun).epochMillis }) AS erasing,
     $evolve > 0 AND COUNT {
       MATCH (d:Decision {scope: s.scope}) WHERE d.version > coalesce(s.evolved_to, 0) AND d.place >= 0 AND size(d.sources) > 0
         AND d.kind IN ['append', 'link', 'merge', 'reinforce', 'supersede', 'discard', 'defer']
       RETURN d LIMIT $evolve
     } >= $evolve AS evolving,
     $blocks > 0 AND s.version - coalesce(s.blocks_version, 0) >= $blocks AS unbuilt,
     $claims > 0 AND s.version - coalesce(s.claims_version, 0) >= $claims AS unclaimed
WHERE coalesce(pending, expiring, erasing) IS NOT NULL OR evolving OR unbuilt OR unclaimed OR crowded OR s.changed_since > 0 OR coalesce(s.pruned_at <= $unpruned, $unpruned IS NOT NULL)
  OR coalesce(s.weighed_at <= $unweighed, $unweighed IS NOT NULL)
RETURN s.tenant AS tenant, s.user AS user, notes, pending, expiring, crowded, erasing, evolving, unbuilt, unclaimed, s.changed_since AS changed_since,
       coalesce(s.notes_since, 0) AS notes_since, s.pruned_at.epochMillis AS pruned, s.weighed_at.epochMillis AS weighed,
       head(COLLECT { MATCH (r:Run {scope: s.scope, id: s.topics_run}) RETURN r.at.epochMillis }) AS ran
ORDER BY coalesce(ran, 0), tenant, user
