// A page of the claims of a scope that have a vector of another set and lack that of this one, by id.
// $scope: string    the scope
// $found: string    name of the other set's vectors
// $after: string    id of the last claim seen
// $limit: integer    claims on a page
// returns id, text
MATCH (c:Claim {scope: $scope}) WHERE c.id > $after AND c[$found] IS NOT NULL AND c.embedding IS NULL
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS id, c.text AS text ORDER BY id
