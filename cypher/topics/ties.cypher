// Which topics occur together: the pairs of keywords with one on either side.
// $scope: string    the scope
// returns one, other (ids, the smaller first), weight (active notes that carry both of a pair, summed), pairs; the strongest first
MATCH (t:Topic {scope: $scope}) WHERE t.id >= ''
CALL (t) {
  // no labels: the types tell them, and where topics are few a label would have those of all scopes walked
  MATCH (t)<-[:IN_TOPIC]-()-[r:CO_OCCUR]-()-[:IN_TOPIC]->(u) WHERE t.id < u.id
  RETURN u.id AS other, sum(r.weight) AS weight, count(r) AS pairs
}
RETURN t.id AS one, other, weight, pairs
ORDER BY weight DESC, one, other
