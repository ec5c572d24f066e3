// What work one scope has for a worker; no row if there is no such scope.
// $scope: string    the scope
// $cap: integer    readable notes of a scope without a cap of its own; 0 for any number
// $bytes: integer    bytes of a scope's readable notes, at most; 0 for any number
// $dimensions: integer    length of the embedder's vectors
// $blocks: integer    after how many writes a scope's blocks are built; 0 for never
// $claims: integer    after how many writes a scope's claims are looked for; 0 for never
// $evolve: integer    after how many new messages a scope evolves; 0 for never
// $alive: datetime    the present: what ends by then is no work but the sweep's
// returns notes (that are pending), pending, expiring, erasing (since when) [ms] or null, crowded (is above its cap), evolving, unbuilt, unclaimed, changed_since, notes_since, ran, pruned, weighed [ms] or null for never
MATCH (s:Scope {scope: $scope})
CALL () {
  MATCH (n:Note {scope: $scope, status: 'pending'}) WHERE n.expires_at > $alive
  RETURN count(n) AS notes, min(n.created_at).epochMillis AS pending
}
RETURN notes, pending, CASE WHEN s.next_expiry <= $alive THEN s.next_expiry.epochMillis END AS expiring,
       // use scopes/crowded
       AS crowded,
       head(COLLECT { MATCH (e:Erasure {scope: $scope}) WHERE e.id >= '' RETURN min(e.begun).epochMillis }) AS erasing,
       $evolve > 0 AND COUNT {
       MATCH (d:Decision {scope: $scope}) WHERE d.version > coalesce(s.evolved_to, 0) AND d.place >= 0 AND size(d.sources) > 0
         AND d.kind IN ['append', 'link', 'merge', 'reinforce', 'supersede', 'discard', 'defer']
       RETURN d LIMIT $evolve
     } >= $evolve AS evolving,
       $blocks > 0 AND s.version - coalesce(s.blocks_version, 0) >= $blocks AS unbuilt,
       $claims > 0 AND s.version - coalesce(s.claims_version, 0) >= $claims AS unclaimed, s.changed_since AS changed_since,
       coalesce(s.notes_since, 0) AS notes_since, s.pruned_at.epochMillis AS pruned, s.weighed_at.epochMillis AS weighed,
       head(COLLECT { MATCH (r:Run {scope: $scope, id: s.topics_run}) RETURN r.at.epochMillis }) AS ran
