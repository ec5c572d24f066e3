// Claims and their notes
// What notes say in general, with the notes that support it; those of most notes first.
// $scope: string    whose memory
MATCH (c:Claim {scope: $scope}) WHERE c.id >= ''
WITH c, COUNT { (c)<-[:SUPPORTS]-(:Note) } AS notes
ORDER BY notes DESC, c.text LIMIT 100
RETURN c, [path = (c)<-[:SUPPORTS]-(:Note) | path] AS support
