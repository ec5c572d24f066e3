// Remove decisions, the budget of which is over, but those that made a note what it is, or a tie, or that tell of a profile.
// $scope: string    the scope
// $before: datetime    until when a decision must have been made
// $rows: integer    how many at once
// returns removed
MATCH (d:Decision {scope: $scope}) WHERE d.id >= '' AND d.at < $before
  AND (d.subject IS NULL OR d.undone_by IS NOT NULL)
  AND NOT EXISTS { MATCH (d)-[a:ABOUT]->(n:Note) WHERE a.revision = n.revision }
  AND NOT EXISTS { MATCH (d)-[:ABOUT]->(:Note)-[r:RELATED|SUPERSEDES|UNTIED]-(:Note) WHERE d.id IN [r.decision, r.untied_by, r.strengthened_by] }
WITH d LIMIT $rows
DETACH DELETE d
RETURN count(*) AS removed
