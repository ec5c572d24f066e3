// Contradictions and corrections
// Notes that can't both hold, and notes that took the place of others: from the newer to the older, with their sources.
// $scope: string    whose memory
MATCH (newer:Note {scope: $scope})-[r:RELATED|SUPERSEDES]->(older:Note)
WHERE newer.id >= '' AND (type(r) = 'SUPERSEDES' OR r.kind = 'conflict')
WITH newer, r, older ORDER BY r.score DESC, newer.id, older.id LIMIT 100
MATCH path = (:Source)<-[:FROM]-(newer)-[r]->(older)-[:FROM]->(:Source)
RETURN path
