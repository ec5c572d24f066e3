// What blocks hold, as it is now: what can't be read any more is left out.
// $scopes: list<string>    the scopes read
// $blocks: list<map>    {scope, id}
// $vector: vector    the question's, null for the block's own
// $most: integer    notes of each
// $described_as: string    the schema by which fields are told, '' for none: what a model wrote by another is not told
// $alive: datetime    the present: what ends by then can't be read
// returns scope, id, whole (whether all of its notes can be read, and none has changed since), described (the fields that a model wrote, JSON: of a whole
//   one alone, else null), described_by (that model), stamps [[stamp, cosine]]: of the nearest notes, the nearest first, keywords [[name, of how many of
//   its notes, of how many of the memory's]], topics [label], people, sessions [those of most notes first], among (readable notes of the memory)
UNWIND $blocks AS one
MATCH (b:Block {scope: one.scope, id: one.id}) WHERE b.scope IN $scopes
CALL (b) {
  MATCH (b)<-[:PART_OF*0..]-(:Block)<-[:IN_BLOCK]-(n:Note)
  WHERE n.status = 'active' AND n.expires_at > $alive AND n.apart IS NULL
  RETURN collect(DISTINCT n) AS held
}
WITH b, held, size(held) = b.notes AND b.made_from <> '' AS whole
WITH b, held, whole, whole AND b.described_as = $described_as AS told
RETURN b.scope AS scope, b.id AS id, whole, CASE WHEN told THEN b.described ELSE '{}' END AS described,
       CASE WHEN told THEN b.described_by ELSE '' END AS described_by,
       COLLECT {
         UNWIND held AS n
         WITH n, 2 * vector.similarity.cosine(n.context_embedding, coalesce($vector, b.embedding, n.context_embedding)) - 1 AS near
         ORDER BY near DESC, n.id LIMIT $most
         RETURN [n.stamp, near] ORDER BY near DESC, n.id
       } AS stamps,
       COLLECT {
         UNWIND held AS n
         MATCH (n)-[:HAS_KEYWORD]->(k:Keyword)
         WITH k, count(n) AS some ORDER BY some DESC, k.name LIMIT 40
         RETURN [k.name, some, COUNT { (k)<-[:HAS_KEYWORD]-(:Note) }]
       } AS keywords,
       COLLECT {
         UNWIND held AS n
         MATCH (n)-[:HAS_KEYWORD]->(:Keyword)-[:IN_TOPIC]->(t:Topic)
         WITH t, count(n) AS some ORDER BY some DESC, t.id LIMIT 3
         RETURN t.label ORDER BY some DESC, t.id
       } AS topics,
       COLLECT {
         UNWIND held AS n
         WITH n.speaker AS speaker, count(n) AS some WHERE speaker > ''
         RETURN speaker ORDER BY some DESC, speaker LIMIT 8
       } AS people,
       COLLECT {
         UNWIND held AS n
         WITH n.session AS session, count(n) AS some WHERE session > ''
         RETURN session ORDER BY some DESC, session LIMIT 8
       } AS sessions,
       head(COLLECT { MATCH (s:Scope {scope: b.scope}) RETURN s.notes }) AS among
