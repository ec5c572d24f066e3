// Remove former versions, the budget of which is over, but what is still needed: that from which an archived note is restored, the last
// trace of a source that no note tells, and a note that an undo can bring back.
// $scope: string    the scope
// $before: datetime    until when a version must have been replaced
// $rows: integer    how many at once
// returns removed
MATCH (p:Past {scope: $scope}) WHERE p.id >= '' AND p.superseded_at < $before
  AND NOT EXISTS { MATCH (n:Note {scope: $scope, id: p.id}) WHERE n.status = 'archived' AND n.revision = p.revision + 1 }
  AND NOT EXISTS { MATCH (p)-[:FROM]->(x:Source) WHERE NOT EXISTS { (x)<-[:FROM]-(:Note) } }
  AND NOT EXISTS { MATCH (p)<-[:ABOUT {role: 'retired'}]-(d:Decision) WHERE d.kind <> 'undo' AND d.undone_by IS NULL }
WITH p LIMIT $rows
DETACH DELETE p
RETURN count(*) AS removed
