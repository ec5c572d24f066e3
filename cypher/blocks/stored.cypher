// A page of all blocks that are stored, whatever their state, by id.
// $scope: string    the scope
// $after: string    id of the last block seen
// $limit: integer    blocks on a page
// returns id, made_from ('' for one whose notes have changed since)
MATCH (b:Block {scope: $scope}) WHERE b.id > $after
WITH b ORDER BY b.id LIMIT $limit
RETURN b.id AS id, b.made_from AS made_from ORDER BY id
