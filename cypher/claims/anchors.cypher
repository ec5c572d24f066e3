// The claims nearest to some notes, by the vectors of what was said in these.
// $scope: string    the scope
// $ids: list<string>    the notes
// $limit: integer    how many to each
// returns id, score: the highest cosine
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id}) WHERE n.raw_embedding IS NOT NULL
CALL (n) {
  MATCH (c:Claim)
    SEARCH c IN (VECTOR INDEX claim_embedding FOR n.raw_embedding WHERE c.scope = $scope LIMIT $limit) SCORE AS score
  RETURN c.id AS claim, 2 * score - 1 AS score
}
RETURN claim AS id, max(score) AS score
ORDER BY score DESC, id
