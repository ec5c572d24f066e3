// What was written while a run prepared: let the blocks of notes that were changed by it, or taken out, be stale, and what holds them.
// $scope: string    the scope
// $version: integer    as it was when the notes were read
CALL () {
  MATCH (d:Decision {scope: $scope}) WHERE d.version > $version AND d.place >= 0
  MATCH (d)-[:ABOUT]->(:Note)-[:IN_BLOCK|SUPPORTS]->(b:Block)
  RETURN b
  UNION
  MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.level = 0 AND b.state = 'live' AND COUNT { (b)<-[:IN_BLOCK]-() } < b.notes
  RETURN b
}
WITH DISTINCT b
MATCH (b)-[:PART_OF*0..]->(a:Block)
WITH DISTINCT a
// use blocks/stale block=a
