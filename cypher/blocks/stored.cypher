// A page of all blocks that are stored, whatever their state, by id.
// $scope: string    the scope
// $after: string    id of the last block seen
// $limit: integer    blocks on a page
// returns id, made_from ('' for one whose notes have changed since), described_as (the schema by which a model wrote of it, '' for none),
//   embedded_as (the schema by which its vector is that of what it tells, '' for the mean of its notes' vectors), source (the unit that a
//   model made it of, '' for none), own (of such a one the ids of its notes)
MATCH (b:Block {scope: $scope}) WHERE b.id > $after
WITH b ORDER BY b.id LIMIT $limit
RETURN b.id AS id, b.made_from AS made_from, coalesce(b.described_as, '') AS described_as, coalesce(b.embedded_as, '') AS embedded_as,
       coalesce(b.source, '') AS source,
       COLLECT { MATCH (b)<-[:IN_BLOCK]-(n:Note) WHERE b.source IS NOT NULL RETURN n.id } AS own
ORDER BY id
