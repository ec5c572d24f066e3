// Give a source a new text; the old one is kept as a PastSource.
// $scope: string    the scope
// $id: string    the source
// $text: string    its new text
// $hash: string    of its new content
// $now: datetime    the time of the change
MATCH (x:Source {scope: $scope, id: $id})
CREATE (p:PastSource)
SET p = properties(x), p.superseded_at = $now
CREATE (x)-[:WAS]->(p)
SET x.text = $text, x.hash = $hash
