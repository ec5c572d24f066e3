// Topics in a table
// How many keywords and notes each has, and which topics it occurs with, the strongest first.
// $scope: string    whose memory
MATCH (t:Topic {scope: $scope}) WHERE t.id >= ''
CALL (t) {
  OPTIONAL MATCH (t)<-[:IN_TOPIC]-(:Keyword)-[r:CO_OCCUR]-(:Keyword)-[:IN_TOPIC]->(u:Topic) WHERE u <> t
  WITH u, sum(r.weight) AS weight ORDER BY weight DESC, u.label
  RETURN collect(u.label + ': ' + weight) AS neighbours
}
RETURN t.label AS topic, COUNT { (t)<-[:IN_TOPIC]-() } AS keywords,
       COUNT { MATCH (t)<-[:IN_TOPIC]-()<-[:HAS_KEYWORD]-(n {status: 'active'}) RETURN DISTINCT n } AS notes, neighbours
ORDER BY keywords DESC, topic
