// One topic with all of its keywords, those that occur most with others in it first.
// $scope: string    the scope
// $id: string    the topic
// returns id, label, size, keywords, labelled_by, labelled_from
MATCH (t:Topic {scope: $scope, id: $id})
RETURN t.id AS id, t.label AS label, COUNT { (t)<-[:IN_TOPIC]-() } AS size, COLLECT {
  MATCH (t)<-[:IN_TOPIC]-(k:Keyword)
  WITH t, k, reduce(sum = 0, w IN COLLECT {
    MATCH (k)-[r:CO_OCCUR]-(:Keyword)-[:IN_TOPIC]->(t) RETURN r.weight
  } | sum + w) AS weight
  RETURN k.name ORDER BY weight DESC, k.name
} AS keywords, coalesce(t.labelled_by, '') AS labelled_by, coalesce(t.labelled_from, []) AS labelled_from
