// A page of a scope's keywords, by name, each with its topic and the keywords behind it that it occurs with.
// $scope: string    the scope
// $after: string    name of the last keyword seen
// $limit: integer    keywords on a page
// returns name, topic or null, near [[name, weight]]
MATCH (k:Keyword {scope: $scope}) WHERE k.name > $after
WITH k ORDER BY k.name LIMIT $limit
RETURN k.name AS name,
       head(COLLECT { MATCH (k)-[:IN_TOPIC]->(t:Topic) RETURN t.id }) AS topic,
       COLLECT { MATCH (k)-[r:CO_OCCUR]->(b:Keyword) RETURN [b.name, r.weight] } AS near
ORDER BY name
