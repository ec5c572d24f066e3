// Notes and their sources
// The newest fifty that are held now, each with its keywords and what it was made from.
// $scope: string    whose memory
MATCH (n:Note {scope: $scope}) WHERE n.id >= '' AND n.status IN ['active', 'pending']
WITH n ORDER BY n.said_at DESC, n.id LIMIT 50
MATCH path = (:Source)<-[:FROM]-(n)
RETURN path, [keyword = (n)-[:HAS_KEYWORD]->(:Keyword) | keyword] AS keywords
