// Keywords that are not found by their vector though a note carries them that can be read, or are though none does.
// $scope: string    the scope
// $statuses: list<string>    of notes that can be read
// returns name, carried
MATCH (k:Keyword {scope: $scope}) WHERE k.name >= ''
WITH k, EXISTS { (k)<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN $statuses } AS carried
WHERE carried <> (k.embedding IS NOT NULL)
RETURN k.name AS name, carried ORDER BY name
