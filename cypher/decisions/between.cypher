// The ties between two notes, whichever is the newer, also one that was taken back.
// $scope: string    the scope
// $note: string    id of a note
// $other: string    id of another one
// returns newer, older, kind (link, change, conflict or supersede), untied_by (the decision that took it back) or null
MATCH (n:Note {scope: $scope, id: $note})
MATCH (o:Note {scope: $scope, id: $other})
MATCH (n)-[r:RELATED|SUPERSEDES|UNTIED]-(o)
RETURN startNode(r).id AS newer, endNode(r).id AS older, coalesce(r.kind, 'supersede') AS kind, r.untied_by AS untied_by
ORDER BY kind
