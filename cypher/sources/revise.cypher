// Give a source a new text; the old one is kept as a PastSource, from which the note's last version now comes.
// $scope: string    the scope
// $id: string    the source
// $text: string    its new text
// $hash: string    of its new content
// $now: datetime    the time of the change
MATCH (x:Source {scope: $scope, id: $id})
CREATE (s:PastSource)
SET s = properties(x), s.superseded_at = $now
CREATE (x)-[:WAS]->(s)
SET x.text = $text, x.hash = $hash
WITH x, s
MATCH (p:Past)-[f:FROM]->(x)
CREATE (p)-[:FROM]->(s)
DELETE f
