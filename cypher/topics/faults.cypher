// Keywords that are in several topics, and topics larger than a topic may be.
// $scope: string    the scope
// returns fault
MATCH (k:Keyword {scope: $scope}) WHERE k.name >= '' AND COUNT { (k)-[:IN_TOPIC]->() } > 1
RETURN 'Keyword ' + k.name + ' is in ' + toString(COUNT { (k)-[:IN_TOPIC]->() }) + ' topics.' AS fault
UNION ALL
MATCH (s:Scope {scope: $scope}) WHERE s.topics_most IS NOT NULL
MATCH (t:Topic {scope: $scope}) WHERE t.id >= '' AND COUNT { (t)<-[:IN_TOPIC]-() } > s.topics_most
RETURN 'Topic ' + t.id + ' has ' + toString(COUNT { (t)<-[:IN_TOPIC]-() }) + ' keywords, more than '
       + toString(s.topics_most) + '.' AS fault
