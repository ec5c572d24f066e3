// The blocks of a scope, each behind what it is made of.
// $scope: string    the scope
// $found: string    name of another set's vectors of blocks
// returns id, made_from, parts: ids of blocks, lacks: whether it has a vector of that set and none of this one
MATCH (b:Block {scope: $scope}) WHERE b.id > ''
RETURN b.id AS id, b.made_from AS made_from, [(b)<-[:PART_OF]-(c:Block) | c.id] AS parts,
       b[$found] IS NOT NULL AND b.embedding IS NULL AS lacks
ORDER BY b.level, id
