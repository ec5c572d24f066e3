// Put the keyword of each `name`, if it has no topic, into the one that it occurs with most, as long as that has fewer than `most`,
// the last run's bound.
MATCH (k:Keyword {scope: $scope, name: name}) WHERE NOT EXISTS { (k)-[:IN_TOPIC]->() }
CALL (k) {
  MATCH (k)-[r:CO_OCCUR]-(:Keyword)-[:IN_TOPIC]->(t:Topic)
  RETURN t, sum(r.weight) AS weight ORDER BY weight DESC, t.id LIMIT 1
}
WITH most, t, k, weight ORDER BY weight DESC, k.name
WITH most, t, collect(k) AS best
WITH t, best[..CASE WHEN COUNT { (t)<-[:IN_TOPIC]-() } < most THEN most - COUNT { (t)<-[:IN_TOPIC]-() } ELSE 0 END] AS best
UNWIND best AS k
MERGE (k)-[:IN_TOPIC]->(t)
