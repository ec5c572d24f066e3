// What work one scope has for a worker; no row if there is no such scope.
// $scope: string    the scope
// $alive: datetime    the present: what ends by then is no work but the sweep's
// returns pending, expiring, erasing, changed_since, notes_since, ran, pruned, weighed [ms] or null for never
MATCH (s:Scope {scope: $scope})
RETURN EXISTS { MATCH (n:Note {scope: $scope, status: 'pending'}) WHERE n.expires_at > $alive } AS pending,
       coalesce(s.next_expiry <= $alive, false) AS expiring,
       EXISTS { MATCH (e:Erasure {scope: $scope}) WHERE e.id >= '' } AS erasing, s.changed_since AS changed_since,
       coalesce(s.notes_since, 0) AS notes_since, s.pruned_at.epochMillis AS pruned, s.weighed_at.epochMillis AS weighed,
       head(COLLECT { MATCH (r:Run {scope: $scope, id: s.topics_run}) RETURN r.at.epochMillis }) AS ran
