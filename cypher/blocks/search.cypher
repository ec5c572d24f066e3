// The blocks nearest to a question, the nearest first, of those that hold no more than the root of a memory's number of notes, or as
// many as any leaf: the tree's own root is near to every question, and would take the place of all that it holds.
// $scopes: list<string>    the scopes read
// $vector: vector    the question's
// $least: integer    notes of a block that is never too large
// $limit: integer    how many
// returns proposed: how many the index gave, blocks [block with score: the cosine]
MATCH (s:Scope) WHERE s.scope IN $scopes AND s.blocks_run > ''
WITH count(s) AS trees, max(s.notes) AS notes
WHERE trees > 0
WITH CASE WHEN sqrt(notes) > $least THEN toInteger(sqrt(notes)) ELSE $least END AS widest
CALL (widest) {
  MATCH (b:Block)
    SEARCH b IN (VECTOR INDEX block_embedding FOR $vector
      WHERE b.scope IN $scopes AND b.notes <= widest LIMIT $limit) SCORE AS score
  RETURN b, score
}
WITH b, score ORDER BY score DESC, b.id
RETURN count(b) AS proposed, [one IN collect(CASE WHEN b.state = 'live' THEN
         b {.scope, .id, .level, .leaves, .notes, .entered, .left, .distance, stale: b.state = 'stale',
            first_at: b.first_at.epochMillis, last_at: b.last_at.epochMillis,
            parent: head(COLLECT { MATCH (b)-[:PART_OF]->(p:Block) WHERE p.state IN ['live', 'stale'] RETURN p.id }),
            score: 2 * score - 1} END) | one] AS blocks
