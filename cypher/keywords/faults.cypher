// Keywords that are not found by their vector though two notes carry them that can be read, or are though fewer do.
// $scope: string    the scope
// $statuses: list<string>    of notes that can be read
// returns name, shared
MATCH (k:Keyword {scope: $scope}) WHERE k.name >= ''
WITH k, size(COLLECT { MATCH (k)<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN $statuses RETURN 0 LIMIT 2 }) = 2 AS shared
WHERE shared <> (k.embedding IS NOT NULL)
RETURN k.name AS name, shared ORDER BY name
