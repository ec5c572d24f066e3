// A decision's story
// The notes that it made or changed, their sources, former versions and corrections.
// $scope: string    whose memory
// $decision: string    its id
MATCH path = (:Decision {scope: $scope, id: $decision})-[:ABOUT]->(n)
RETURN path, [source = (n)-[:FROM]->() | source] AS sources, [was = (n)-[:WAS]->(:Past)-[:FROM]->() | was] AS past,
       [correction = (n)-[:SUPERSEDES|UNTIED]-(:Note) | correction] AS corrections
