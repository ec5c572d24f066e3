// Topics and their neighbours
// Each with its keywords; where two topics occur together, keywords of both are tied.
// $scope: string    whose memory
MATCH path = (t:Topic {scope: $scope})<-[:IN_TOPIC]-(k:Keyword) WHERE t.id >= ''
RETURN path, [tie = (k)-[:CO_OCCUR]->(o:Keyword) WHERE EXISTS { (o)-[:IN_TOPIC]->() } | tie] AS ties
