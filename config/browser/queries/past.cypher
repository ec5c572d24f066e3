// A note's past
// Every version of it, with the sources as they were then, and the decisions that changed it.
// $scope: string    whose memory
// $source: string    id of one of its sources
MATCH path = (:Source {scope: $scope, id: $source})<-[:FROM]-(n:Note)
RETURN path, [was = (n)-[:WAS]->(:Past)-[:FROM]->() | was] AS versions,
       [about = (n)<-[:ABOUT]-(:Decision) | about] AS decisions
