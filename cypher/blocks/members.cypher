// The notes that blocks hold, as they are now: what can't be read any more is left out. Of a block that holds very many, the nearest.
// $scopes: list<string>    the scopes read
// $blocks: list<map>    {scope, id}
// $vector: vector    the question's
// $most: integer    notes of each
// $alive: datetime    the present: what ends by then can't be read
// returns scope, id, stamps
UNWIND $blocks AS one
MATCH (b:Block {scope: one.scope, id: one.id}) WHERE b.scope IN $scopes
CALL (b) {
  MATCH (b)<-[:PART_OF*0..]-(:Block)<-[:IN_BLOCK]-(n:Note)
  WHERE n.status = 'active' AND n.expires_at > $alive AND n.apart IS NULL
  RETURN collect(DISTINCT n) AS held
}
RETURN b.scope AS scope, b.id AS id,
       CASE WHEN size(held) <= $most THEN [n IN held | n.stamp] ELSE COLLECT {
         UNWIND held AS n
         WITH n, vector.similarity.cosine(n.context_embedding, $vector) AS near
         ORDER BY near DESC, n.id LIMIT $most
         RETURN n.stamp
       } END AS stamps
