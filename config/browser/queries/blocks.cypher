// The tree of blocks
// From the root down to the notes of each leaf; of a large memory its upper part.
// $scope: string    whose memory
MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.state IN ['live', 'stale']
WITH b ORDER BY b.level DESC, b.entered LIMIT 100
RETURN b, [path = (b)-[:PART_OF]->(p:Block) WHERE p.state IN ['live', 'stale'] | path] AS above,
       CASE b.level WHEN 0 THEN [path = (b)<-[:IN_BLOCK]-(:Note) | path] ELSE [] END AS notes
