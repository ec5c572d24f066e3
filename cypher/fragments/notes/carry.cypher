// Let a note `n` carry the stored keywords that its row names.
UNWIND row.keywords AS name
MATCH (k:Keyword {scope: $scope, name: name})
MERGE (n)-[:HAS_KEYWORD]->(k)
