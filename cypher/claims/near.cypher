// The claims nearest to what is asked about, and those of which an end is named there.
// $scopes: list<string>    the scopes read
// $vector: vector    the question's
// $keys: list<string>    keys of the words that it names
// $limit: integer    how many by the vector, and by each end
// returns scope, id, score: the cosine, named: whether an end of it is
CALL () {
  MATCH (c:Claim)
    SEARCH c IN (VECTOR INDEX claim_embedding FOR $vector WHERE c.scope IN $scopes LIMIT $limit)
  RETURN c
  UNION
  UNWIND $scopes AS scope
  UNWIND $keys AS key
  MATCH (c:Claim {scope: scope, subject_key: key})
  RETURN c LIMIT $limit
  UNION
  UNWIND $scopes AS scope
  UNWIND $keys AS key
  MATCH (c:Claim {scope: scope, object_key: key})
  RETURN c LIMIT $limit
}
RETURN c.scope AS scope, c.id AS id, 2 * vector.similarity.cosine(c.embedding, $vector) - 1 AS score,
       c.subject_key IN $keys OR c.object_key IN $keys AS named
