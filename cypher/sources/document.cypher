// The passages that are stored of a document, or the pieces of a file of code, but those that are to be erased by now, in the order in which they came, and what became of each.
// $scope: string    the scope
// $document: string    the document's id, which is its passages' session
// $alive: datetime    the present: what ends by then can't be read
// returns source, hashes [of its versions, newest first], taken (out of a note that other sources tell too),
//   notes [{part: of the source, id, status, expired, sources (their number), evidence (of its last decision)}], one for each part that has a note
MATCH (x:Source {scope: $scope, session: $document})
WHERE x.seq >= 0 AND (x.kind = 'document' AND x.id STARTS WITH $document + '#' OR x.kind = 'code' AND x.id STARTS WITH $document + '::')
  AND (x.erase_at > $alive OR EXISTS { (x)<-[:FROM]-(n:Note) WHERE n.erase_at > $alive })
RETURN x {.*, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} AS source,
       [x.hash] + [(x)-[:WAS]->(p:PastSource) | p.hash] AS hashes,
       COLLECT {
         MATCH (o:Note)-[f:FROM]->(x)
         WITH coalesce(f.part, 0) AS part, coalesce(head([(o)<-[:SUMS]-(m:Note) WHERE o.status = 'archived' AND o.expires_at > $alive AND m.status = 'active' AND m.expires_at > $alive | m]), o) AS n
         RETURN n {part: part, .id, .status, expired: n.expires_at <= $alive, sources: COUNT { (n)-[:SUMS*0..1]->()-[:FROM]->(:Source) },
                   evidence: head([(d:Decision)-[a:ABOUT]->(n) WHERE a.revision = n.revision | d.evidence])} ORDER BY part
       } AS notes,
       NOT EXISTS { (x)<-[:FROM]-(:Note) } AND EXISTS { (x)<-[:FROM]-(:Past)<-[:WAS]-(:Note) } AS taken
ORDER BY x.seq, x.id
