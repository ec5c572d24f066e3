// The notes of an id, their own or that of a source they come from, also by a summary, with all that a change of one needs.
// $scope: string    the scope
// $id: string    id of a note or a source
// $alive: datetime    the present: what ends by then has expired, and what is to be erased by then is gone
// returns by (note or source), note [with terms, keywords, sources, sums: what it stands for, summed_by: what stands for it], in the order of the source's passages
CALL () {
  MATCH (n:Note {scope: $scope, id: $id}) WHERE n.erase_at > $alive
  RETURN n, 'note' AS by, 0 AS part
  UNION
  MATCH (x:Source {scope: $scope, id: $id})<-[f:FROM]-(n:Note) WHERE n.erase_at > $alive
  RETURN n, 'source' AS by, min(coalesce(f.part, 0)) AS part
  UNION
  MATCH (x:Source {scope: $scope, id: $id})<-[f:FROM]-(o:Note)<-[:SUMS]-(n:Note)
  WHERE o.status = 'archived' AND o.erase_at > $alive AND o.expires_at > $alive AND n.status = 'active' AND n.expires_at > $alive
  RETURN n, 'source' AS by, min(coalesce(f.part, 0)) AS part
}
RETURN by,
       n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags,
          // use notes/times note=n
          .apart, expired: n.expires_at <= $alive, .raw_terms, .context_terms, .constructed_by,
          keywords: coalesce(n.keywords, COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }),
          sums: [(n)-[:SUMS]->(m) | m.id], summed_by: [(n)<-[:SUMS]-(s:Note) | s.id],
          // use notes/sources note=n labels=Source|PastSource
          } AS note
ORDER BY by, part, n.id
