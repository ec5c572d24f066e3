// What stored notes each new one may repeat or complete: nearest by the raw text's vector, and by words. A batch is looked
// up on two cores at once; in transactions of their own, since whoever looks up holds the scope's version against it later.
// Lucene's scores count the notes of all scopes, and deleted ones until it merges: of what full text proposes, those that
// share most words are taken, so that who is compared depends on the scope alone.
// $scope: string    the scope
// $rows: list<map>    {place, raw_vector, terms, words: the full-text query made of these, session,
//   turns: those of the session whose notes it is held against besides}
// $near: integer    notes that the vector index proposes for each; those that are kept apart, code and items come too, and are to be left out
// $lexical: integer    notes that share most words with each
// $proposed: integer    notes that full text proposes for each
// $alive: datetime    the present: what ends by then can't be read
// returns pairs [{place, id, raw_cosine, near (by the vector index alone)}], notes [{id, context, policy, apart, alone (whether it is a piece of code, or an item), said_at, expires_at, keywords (keys),
//   raw (of a summary, or what a user wrote, else null), summary (whether it is one), sources,
//   ended (the last note that tells a change of it or replaced it [id, said_at ms], else null), gone (whether it was replaced, by one of the others)}]
OPTIONAL MATCH (s:Scope {scope: $scope})
WITH coalesce(s.keeps_apart, false) AS apart
UNWIND $rows AS row
CALL (row, apart) {
  CALL (row, apart) {
    MATCH (n:Note)
      SEARCH n IN (VECTOR INDEX note_raw FOR row.raw_vector
        WHERE n.scope = $scope AND n.status = 'active' AND n.expires_at > $alive LIMIT $near) SCORE AS score
    RETURN n, score
    UNION ALL
    CALL db.index.fulltext.queryNodes('note_terms', row.words, {limit: $proposed}) YIELD node AS n
    WHERE n:Note AND n.scope = $scope AND n.status = 'active' AND n.expires_at > $alive AND (NOT apart OR n.apart IS NULL)
    WITH n, ' ' + n.raw_terms + ' ' AS held
    ORDER BY size([term IN row.terms WHERE held CONTAINS ' ' + term + ' ']) DESC, size(held), n.id LIMIT $lexical
    RETURN n, null AS score
    UNION ALL
    UNWIND row.turns AS seq
    MATCH (:Source {scope: $scope, session: row.session, seq: seq})<-[:FROM]-(n:Note) WHERE n.status = 'active' AND n.expires_at > $alive AND (NOT apart OR n.apart IS NULL)
    RETURN n, null AS score
  }
  WITH n, max(score) AS score, count(*) = count(score) AS near, vector_dimension_count(row.raw_vector) AS dimensions
  RETURN n, near, coalesce(
              2 * score - 1, 1 - vector_distance(vector(n.raw_embedding, dimensions, FLOAT32), row.raw_vector, COSINE)) AS raw_cosine
} IN 2 CONCURRENT TRANSACTIONS OF 16 ROWS
WITH collect({place: row.place, id: n.id, raw_cosine: raw_cosine, near: near}) AS pairs,
     collect(DISTINCT n) AS notes
WITH pairs, notes, COLLECT { UNWIND notes AS n MATCH (n)-[:SUPERSEDES]->(o:Note) WHERE o.status = 'superseded' AND o.expires_at > $alive AND o.apart IS NULL RETURN DISTINCT o } AS gone
RETURN pairs,
       [n IN notes + gone | n {.id, .context, .policy, .apart, alone: EXISTS { (n)-[:FROM]->(x:Source) WHERE x.kind IN ['code', 'item'] }, said_at: n.said_at.epochMillis, expires_at: n.expires_at.epochMillis,
                        gone: n.status = 'superseded',
                        ended: head(COLLECT { MATCH (n)<-[r:RELATED|SUPERSEDES]-(m:Note) WHERE coalesce(r.kind, 'change') = 'change' AND m.expires_at > $alive AND m.apart IS NULL RETURN [m.id, m.said_at.epochMillis] ORDER BY m.said_at DESC, m.id LIMIT 1 }),
                        raw: CASE WHEN n.constructed_by = 'user' OR EXISTS { (n)-[:SUMS]->() } THEN n.raw END,
                        summary: EXISTS { (n)-[:SUMS]->() },
                        sources: [(n)-[:SUMS*0..1]->()-[f:FROM]->(x:Source) | x {.id, .kind, .role, .trust_as, .speaker, .session, .seq, .said_as, .caption, .cuts, part: f.part, said_at: x.said_at.epochMillis, text:
                          // use sources/words source=x part=coalesce(f.part,0)
                          }],
                        keywords: [(n)-[:HAS_KEYWORD]->(k:Keyword) | k.key]}] AS notes
