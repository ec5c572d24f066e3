// Revise notes: each keeps its closing state as a former version, from which undo and looking back read it
// (docs/architecture.md, Undo and Looking back).
// $write.revise: list<list<map>>    waves of revisions, each note once in a wave {id, properties, raw_vector or null, context_vector or
//   null, decision, role, adds, drops [{id (of a source), part}], keywords or null, sums (what it stands for from now on, or null),
//   light: neither the note nor its former version keeps vectors, and the note keeps its keywords by their names alone}
CALL () {
  UNWIND $write.revise AS wave
  CALL (wave) {
    UNWIND wave AS row
    MATCH (n:Note {scope: $scope, id: row.id})
    MATCH (d:Decision {scope: $scope, id: row.decision})
    // a clock that was put back makes no two versions true at once
    WITH n, d, row, CASE WHEN n.recorded_at > $now THEN n.recorded_at ELSE $now END AS now
    CREATE (p:Past)
    SET p = properties(n), p.was = n.status, p.status = 'past', p.superseded_at = now,
        p.keywords = coalesce(n.keywords, COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name })
    CREATE (n)-[:WAS]->(p)
    WITH n, p, d, row, now
    // use notes/tell_as
    CALL (n, p, row) {
      WITH n, p, row WHERE row.light
      SET n.keywords = p.keywords
      REMOVE n.raw_embedding, n.context_embedding, p.raw_embedding, p.context_embedding
      // use writes/outdate node=n
      // use writes/outdate node=p
    }
    SET n += row.properties, n.recorded_at = now, n.revision = n.revision + 1
    // use notes/scoped
    CREATE (d)-[:ABOUT {role: row.role, revision: n.revision}]->(n)
    WITH n, p, row
    // it still supports what it claimed if it says all that it said
    CALL (n, p) {
      MATCH (n)-[r:SUPPORTS {stamp: p.stamp}]->(:Claim) WHERE all(line IN p.raw WHERE line IN n.raw)
      SET r.stamp = n.stamp
    }
    // and what is put into the archive as it is need not be read again
    SET n.abstracted = CASE WHEN row.light AND n.raw = p.raw AND p.abstracted = p.stamp THEN n.stamp ELSE n.abstracted END
    WITH n, p, row
    // use writes/retell
    // what it stands for lives as long, is kept apart as it is, and is deleted with it
    CALL (n) {
      MATCH (n)-[:SUMS]->(m:Note) WHERE m.status IN ['archived', 'deleted'] AND n.status <> 'archived'
      // its words are what they were, and so is what they claim
      CALL (m) { MATCH (m)-[r:SUPPORTS {stamp: m.stamp}]->(:Claim) SET r.stamp = m.stamp + 1 }
      SET m.abstracted = CASE m.abstracted WHEN m.stamp THEN m.stamp + 1 ELSE m.abstracted END
      SET m.policy = n.policy, m.apart = n.apart, m.expires_at = n.expires_at, m.erase_at = n.erase_at,
          m.stamp = m.stamp + 1, m.status = CASE n.status WHEN 'deleted' THEN 'deleted' ELSE 'archived' END
    }
    // use writes/embed
    WITH n, row WHERE row.keywords IS NOT NULL
    CALL (n) { MATCH (n)-[r:HAS_KEYWORD]->(:Keyword) DELETE r }
    // use notes/carry
  }
}
