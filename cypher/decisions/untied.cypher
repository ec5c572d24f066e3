// What a decision took back of the ties between notes, as far as it can be brought back.
// $scope: string    the scope
// $decision: string    the decision
// returns newer, older
MATCH (:Decision {scope: $scope, id: $decision})-[:ABOUT]->(n:Note)-[u:UNTIED {untied_by: $decision}]->(o:Note)
RETURN DISTINCT n.id AS newer, o.id AS older
