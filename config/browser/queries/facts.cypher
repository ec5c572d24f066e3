// Facts and what ended them
// The newest hundred that profiles tell, with their messages and notes, and notes that took the place of these, or lost it.
// $scope: string    whose memory
MATCH (d:Decision {scope: $scope}) WHERE d.subject >= '' AND d.undone_by IS NULL
WITH d ORDER BY d.at DESC, d.id LIMIT 100
MATCH path = (d)-[:ABOUT]->(x:Source)
RETURN path, [told = (x)<-[:FROM]-(:Note) | told] AS notes,
       [tie = (x)<-[:FROM]-(:Note)-[r:RELATED|SUPERSEDES]-(:Note)
         WHERE type(r) = 'SUPERSEDES' OR r.kind = 'change' | tie] AS ties
