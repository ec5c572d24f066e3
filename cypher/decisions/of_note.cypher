// Every decision about a note, oldest first, also those of its earlier lives, with what it was to the note; those by which a later
// note took its place, also where that was taken back since; and those on a profile that its sources told.
// $scope: string    the scope
// $id: string    id of the note
// $alive: datetime    the present: what ends by then can't be read
// $present: datetime    what is to be erased by then is gone
// returns decision, role, revision
CALL () {
  MATCH (n:Note {scope: $scope, id: $id}) RETURN n
  UNION
  MATCH (n:Past {scope: $scope, id: $id}) RETURN n
}
CALL (n) {
  MATCH (d:Decision)-[a:ABOUT]->(n) RETURN d, a.role AS role, a.revision AS revision
  UNION
  MATCH (n)<-[r:RELATED|UNTIED {kind: 'change'}]-(m:Note) WHERE m.expires_at > $alive AND m.erase_at > $present AND n.apart IS NULL AND m.apart IS NULL
  MATCH (d:Decision {scope: $scope, id: r.decision})
  RETURN d, 'outdated' AS role, null AS revision
  UNION
  MATCH (n)-[:FROM]->(:Source|PastSource)<-[:ABOUT {role: 'source'}]-(d:Decision) WHERE d.subject IS NOT NULL
  RETURN d, 'source' AS role, null AS revision
}
RETURN d {.*, at: d.at.epochMillis} AS decision, role, revision
ORDER BY d.version, d.place, revision
