// Decisions in a table
// The newest hundred, and what each was about; an id is what the next query asks for.
// $scope: string    whose memory
MATCH (d:Decision {scope: $scope}) WHERE d.version >= 0 AND d.place >= 0
WITH d ORDER BY d.version DESC, d.place DESC LIMIT 100
RETURN d.id AS id, d.kind AS kind, d.at AS at, d.evidence AS evidence,
       COLLECT { MATCH (d)-[a:ABOUT]->(n) RETURN a.role + ': ' + coalesce(n.raw[0], n.text) ORDER BY a.role, n.id } AS about
ORDER BY d.version DESC, d.place DESC
