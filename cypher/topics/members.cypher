// A page of the keywords, by name, each with its topic or null.
// $scope: string    the scope
// $after: string    name of the last keyword seen
// $limit: integer    keywords on a page
// returns name, topic
MATCH (k:Keyword {scope: $scope}) WHERE k.name > $after
WITH k ORDER BY k.name LIMIT $limit
RETURN k.name AS name, head(COLLECT { MATCH (k)-[:IN_TOPIC]->(t:Topic) RETURN t.id }) AS topic
ORDER BY name
