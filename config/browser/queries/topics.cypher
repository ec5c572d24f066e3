// Topics and their neighbours
// Each with its most central keywords, and with those that occur with keywords of other topics.
// $scope: string    whose memory
MATCH path = (t:Topic {scope: $scope})<-[:IN_TOPIC]-(k:Keyword) WHERE t.id >= ''
WITH path, [tie = (k)-[:CO_OCCUR]-()-[:IN_TOPIC]->(u:Topic) WHERE u <> t | tie] AS ties, k.name IN t.keywords AS central
WHERE central OR ties <> []
RETURN path, ties
