// One write: all that changes in a scope at once, or nothing if somebody wrote since its version was read (no row then).
// Each part runs where it is given rows, and sees what the parts before it wrote. What an addition always writes is always sent;
// what revises notes, and what corrects, only where some of it has rows: planned as a whole, the first addition took ten seconds.
// $scope: string    the scope
// $version: integer    as it was when the write was prepared
// $sums: map    by how much the scope's sums change {notes, raw_length, context_length, joined}, when the first of what is written ends {ends: ms or null},
//   and whether any of it is kept apart {apart: a search looks for that only in scopes that ever held some}
// $write: map    what changes
//   sources: list<map>    to store {id, previous: id or null, properties, expires_at, erase_at [ms, null for never]}
//   decisions: list<map>    to record {id, properties, source or null, undoes or null}
//   keywords: list<map>    to store unless they are there {name, key, vector}
//   reinstated: list<map>    notes to take back {id, retired_by, decision, keywords, stamp}
//   notes: list<map>    to store {id, source or null, part, sums: notes that it stands for, properties, said_at, created_at, valid_from [ms], expires_at, erase_at [ms, null for never], raw_vector or null,
//   context_vector or null, decision, keywords}; `part` is the passage of the source, null for the first
//   waves: list<list<map>>    notes to revise, each once in a wave {id, properties, raw_vector or null, context_vector or
//   null, decision, role, adds, drops [{id (of a source), part}], keywords or null, sums (what it stands for from now on, or null), light: neither the note nor its former version
//   keeps vectors, and the note keeps its keywords by their names alone}
//   rewritten: list<map>    sources to give a new text {id, text, hash, tags, metadata, cuts (before which characters it is cut, or null), expires_as [ms or null], parted,
//   returned}; the notes `parted` go on telling the former text, those `returned` told it before and tell this one again
//   relations: list<map>    ties from the notes that a decision made or changed {new, old, score, kind (link, change,
//   conflict or supersede), decision, former (words of the older one that a change makes untrue, '' for all)}; two notes
//   are RELATED once, in whichever direction, and no more once they are UNTIED
//   cut: list<map>    ties to cut {note, decision}
//   untied: list<map>    ties to take back {newer, older, decision}; an UNTIED keeps all that a tie held
//   loosed: list<map>    notes that say something else now {note, decision, sources: those that still tell it, or null}; the
//   changes and conflicts that were judged by other words are taken back
//   retied: list<map>    ties to bring back {untied_by, decision}
//   strengthened: list<map>    ties to give a higher score {new, old, score, decision}: each once, and it keeps the score `before`
//   weakened: list<map>    notes whose ties get back the score from before a decision {note, decision}
//   retired: list<map>    notes to take out {id, decision}
//   parted: list<map>    notes whose former versions tell or quote what is kept apart from now on {id, apart: with which class}
//   leaving: list<string>    sources to take out
//   rebuilt: list<map>    notes that lose erased sources, or no longer quote them, to make anew in place {id, properties, raw_vector or null,
//   context_vector or null, keywords or null, losing}: without a former version, which would keep the very words
//   erased: list<string>    notes to remove with their former versions
//   living: list<map>    sources whose notes live differently now {id, begins [ms, null for as before]}: each has the shortest life of
//   its notes, since whoever reads or quotes it reads all of them
//   prolonged: list<map>    what lives as long as a session that goes on {session, policy, expires_at, erase_at [ms, null for never]}
//   pairs: list<map>    change of how many active notes carry both keywords {a, b, change}, a before b
//   lost: list<string>    keywords that notes lost, or that notes carry which can be read no more
//   gained: list<string>    keywords that notes gained, or that notes carry which can be read now
// $revises: boolean    whether more is written than an addition writes
// $corrects: boolean    whether more is written than an addition and revised notes
// $statuses: list<string>    of notes that can be read
// $now: datetime    the time of the change
// returns version: what it is now
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE s.version = $version
SET s.version = s.version + 1,
    s.notes = s.notes + $sums.notes,
    s.raw_length = s.raw_length + $sums.raw_length,
    s.context_length = s.context_length + $sums.context_length,
    s.changed_since = s.changed_since + 1,
    s.notes_since = coalesce(s.notes_since, 0) + $sums.joined,
    s.next_expiry = CASE WHEN $sums.ends IS NULL OR s.next_expiry.epochMillis <= $sums.ends THEN s.next_expiry
                    ELSE datetime({epochMillis: $sums.ends}) END,
    s.keeps_apart = CASE WHEN $sums.apart THEN true ELSE s.keeps_apart END
WITH s.version AS version, s.topics_most AS most, s.blocks_run AS blocks
// the blocks of notes that change, and what holds them, are found no more until they are made anew, and keep no word of them
// if $revises
CALL (blocks) {
  UNWIND CASE WHEN blocks IS NULL THEN [] ELSE [row IN $write.retired | row.id] + [row IN $write.rebuilt | row.id] + $write.erased
         + reduce(changed = [], wave IN $write.waves | changed + [row IN wave | row.id]) END AS id
  MATCH (:Note {scope: $scope, id: id})-[:IN_BLOCK]->(:Block)-[:PART_OF*0..]->(b:Block)
  SET b.state = CASE b.state WHEN 'live' THEN 'stale' ELSE b.state END, b.made_from = '', b.embedding = null,
      b.described = null, b.described_by = null, b.described_as = null
}
// end
CALL () {
  UNWIND $write.sources AS row
  CREATE (x:Source {scope: $scope, id: row.id})
  SET x += row.properties,
      x.expires_at = CASE WHEN row.expires_at IS NULL THEN datetime('9999-12-31T00:00:00Z') ELSE datetime({epochMillis: row.expires_at}) END,
      x.erase_at = CASE WHEN row.erase_at IS NULL THEN datetime('9999-12-31T00:00:00Z') ELSE datetime({epochMillis: row.erase_at}) END
  WITH x, row WHERE row.previous IS NOT NULL
  MATCH (p:Source {scope: $scope, id: row.previous})
  MERGE (p)-[:NEXT]->(x)
}
CALL () {
  UNWIND $write.decisions AS row
  CREATE (d:Decision {scope: $scope, id: row.id})
  SET d += row.properties, d.at = $now
  WITH d, row
  CALL (d, row) {
    WITH d, row WHERE row.source IS NOT NULL
    MATCH (x:Source {scope: $scope, id: row.source})
    CREATE (d)-[:ABOUT {role: 'source'}]->(x)
  }
  CALL (d, row) {
    WITH d, row WHERE row.undoes IS NOT NULL
    MATCH (u:Decision {scope: $scope, id: row.undoes})
    SET u.undone_by = row.id
  }
}
CALL () {
  UNWIND $write.keywords AS row
  MERGE (k:Keyword {scope: $scope, name: row.name})
  ON CREATE SET k.key = row.key
  WITH k, row WHERE k.embedding IS NULL AND k.resting IS NULL
  CALL db.create.setNodeVectorProperty(k, 'resting', row.vector)
}
// if $corrects
CALL () {
  UNWIND $write.reinstated AS row
  MATCH (:Decision {scope: $scope, id: row.retired_by})-[:ABOUT {role: 'retired'}]->(n:Past {scope: $scope, id: row.id})
  MATCH (d:Decision {scope: $scope, id: row.decision})
  WITH n, d, row, CASE WHEN n.superseded_at > $now THEN n.superseded_at ELSE $now END AS now
  CREATE (p:Past)
  SET p = properties(n)
  WITH n, p, d, row, now
  CALL (n, p) { MATCH (n)-[f:FROM]->(x:Source|PastSource) CREATE (p)-[:FROM {part: f.part}]->(x) }
  CALL (n, p) { MATCH (n)-[:SUMS]->(m) CREATE (p)-[:SUMS]->(m) }
  REMOVE n:Past
  SET n:Note, n.status = n.was, n.was = null, n.keywords = null, n.recorded_at = now, n.revision = n.revision + 1,
      n.stamp = row.stamp, n.superseded_at = datetime('9999-12-31T00:00:00Z')
  CREATE (n)-[:WAS]->(p)
  CREATE (d)-[:ABOUT {role: 'changed', revision: n.revision}]->(n)
  WITH n, row
  // while it was out its source may have had another text, and has the one again that it tells
  CALL (n) {
    MATCH (n)-[f:FROM]->(s:PastSource)<-[:WAS]-(x:Source) WHERE x.hash = s.hash
    CREATE (n)-[:FROM {part: f.part}]->(x)
    DELETE f
  }
  WITH n, row
  UNWIND row.keywords AS name
  MATCH (k:Keyword {scope: $scope, name: name})
  MERGE (n)-[:HAS_KEYWORD]->(k)
}
// end
CALL () {
  UNWIND $write.notes AS row
  WITH row, datetime('9999-12-31T00:00:00Z') AS never
  CREATE (n:Note {scope: $scope, id: row.id})
  SET n += row.properties,
      n.said_at = datetime({epochMillis: row.said_at}), n.created_at = datetime({epochMillis: row.created_at}),
      n.recorded_at = $now, n.superseded_at = never,
      n.valid_from = datetime({epochMillis: row.valid_from}), n.valid_to = never,
      n.expires_at = CASE WHEN row.expires_at IS NULL THEN never ELSE datetime({epochMillis: row.expires_at}) END,
      n.erase_at = CASE WHEN row.erase_at IS NULL THEN never ELSE datetime({epochMillis: row.erase_at}) END
  SET n.raw_scoped = n.scope_token + replace(n.raw_terms, ' ', ' ' + n.scope_token),
      n.context_scoped = n.scope_token + replace(n.context_terms, ' ', ' ' + n.scope_token)
  WITH n, row
  CALL (n, row) {
    MATCH (x:Source {scope: $scope, id: row.source})
    CREATE (n)-[:FROM {part: row.part}]->(x)
  }
  CALL (n, row) { UNWIND row.sums AS id MATCH (m:Note {scope: $scope, id: id}) CREATE (n)-[:SUMS]->(m) }
  WITH n, row
  MATCH (d:Decision {scope: $scope, id: row.decision})
  CREATE (d)-[:ABOUT {role: 'created', revision: 1}]->(n)
  WITH n, row
  CALL (n, row) {
    WITH n, row WHERE row.raw_vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
    CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
    RETURN count(*) AS vectors
  }
  UNWIND row.keywords AS name
  MATCH (k:Keyword {scope: $scope, name: name})
  MERGE (n)-[:HAS_KEYWORD]->(k)
}
// if $revises
CALL () {
  UNWIND $write.waves AS wave
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
    CALL (n, p) { MATCH (n)-[f:FROM]->(x:Source|PastSource) CREATE (p)-[:FROM {part: f.part}]->(x) }
    CALL (n, p) { MATCH (n)-[:SUMS]->(m) CREATE (p)-[:SUMS]->(m) }
    CALL (n, p, row) {
      WITH n, p, row WHERE row.light
      SET n.keywords = p.keywords
      REMOVE n.raw_embedding, n.context_embedding, p.raw_embedding, p.context_embedding
    }
    SET n += row.properties, n.recorded_at = now, n.revision = n.revision + 1
    SET n.raw_scoped = n.scope_token + replace(n.raw_terms, ' ', ' ' + n.scope_token),
        n.context_scoped = n.scope_token + replace(n.context_terms, ' ', ' ' + n.scope_token)
    CREATE (d)-[:ABOUT {role: row.role, revision: n.revision}]->(n)
    WITH n, p, row
    // it still supports what it claimed if it says all that it said
    CALL (n, p) {
      MATCH (n)-[r:SUPPORTS {stamp: p.stamp}]->(:Claim) WHERE all(line IN p.raw WHERE line IN n.raw)
      SET r.stamp = n.stamp
    }
    CALL (n, row) {
      UNWIND row.drops AS drop
      MATCH (n)-[f:FROM]->(:Source {scope: $scope, id: drop.id}) WHERE coalesce(f.part, 0) = coalesce(drop.part, 0)
      DELETE f
    }
    CALL (n, row) { UNWIND row.adds AS add MATCH (x:Source {scope: $scope, id: add.id}) CREATE (n)-[:FROM {part: add.part}]->(x) }
    CALL (n, row) {
      WITH n, row WHERE row.sums IS NOT NULL
      CALL (n) { MATCH (n)-[r:SUMS]->() DELETE r }
      UNWIND row.sums AS id
      MATCH (m:Note {scope: $scope, id: id})
      CREATE (n)-[:SUMS]->(m)
    }
    // what it stands for lives as long, is kept apart as it is, and is deleted with it
    CALL (n) {
      MATCH (n)-[:SUMS]->(m:Note) WHERE m.status IN ['archived', 'deleted'] AND n.status <> 'archived'
      SET m.policy = n.policy, m.apart = n.apart, m.expires_at = n.expires_at, m.erase_at = n.erase_at,
          m.stamp = m.stamp + 1, m.status = CASE n.status WHEN 'deleted' THEN 'deleted' ELSE 'archived' END
    }
    CALL (n, p) {
      WITH n, p WHERE n.raw_embedding IS NOT NULL
      CALL db.create.setNodeVectorProperty(p, 'raw_embedding', n.raw_embedding)
      CALL db.create.setNodeVectorProperty(p, 'context_embedding', n.context_embedding)
      RETURN count(*) AS copied
    }
    CALL (n, row) {
      WITH n, row WHERE row.raw_vector IS NOT NULL
      CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
      RETURN count(*) AS raw
    }
    CALL (n, row) {
      WITH n, row WHERE row.context_vector IS NOT NULL
      CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
      RETURN count(*) AS context
    }
    WITH n, row WHERE row.keywords IS NOT NULL
    CALL (n) { MATCH (n)-[r:HAS_KEYWORD]->(:Keyword) DELETE r }
    UNWIND row.keywords AS name
    MATCH (k:Keyword {scope: $scope, name: name})
    MERGE (n)-[:HAS_KEYWORD]->(k)
  }
}
// end
// after the notes, whose former versions then come from the former text
// if $corrects
CALL () {
  UNWIND $write.rewritten AS row
  MATCH (x:Source {scope: $scope, id: row.id})
  CREATE (s:PastSource)
  SET s = properties(x), s.superseded_at = $now
  CREATE (x)-[:WAS]->(s)
  SET x.text = row.text, x.hash = row.hash, x.cuts = row.cuts, x.tags = row.tags, x.metadata = row.metadata,
      x.expires_as = row.expires_as
  WITH x, s, row
  CALL (x, s, row) {
    MATCH (n:Note|Past)-[f:FROM]->(x) WHERE n:Past OR n.id IN row.parted
    CREATE (n)-[:FROM {part: f.part}]->(s)
    DELETE f
  }
  CALL (x, row) {
    MATCH (x)-[:WAS]->(:PastSource {hash: row.hash})<-[f:FROM]-(n:Note) WHERE n.id IN row.returned
    CREATE (n)-[:FROM {part: f.part}]->(x)
    DELETE f
  }
}
// end
CALL () {
  UNWIND $write.relations AS row
  MATCH (n:Note {scope: $scope, id: row.new})
  MATCH (o:Note {scope: $scope, id: row.old})
  CALL (n, o, row) {
    WITH n, o, row WHERE row.kind = 'supersede'
    MERGE (n)-[s:SUPERSEDES]->(o) ON CREATE SET s.decision = row.decision, s.score = row.score
  }
  CALL (n, o, row) {
    WITH n, o, row WHERE row.kind <> 'supersede' AND NOT EXISTS { (o)-[:RELATED]->(n) } AND NOT EXISTS { (o)-[:UNTIED]-(n) }
    MERGE (n)-[r:RELATED]->(o) ON CREATE SET r.decision = row.decision, r.score = row.score, r.kind = row.kind,
      r.former = CASE row.former WHEN '' THEN null ELSE row.former END
  }
}
// if $corrects
CALL () {
  UNWIND $write.cut AS row
  MATCH (n:Note {scope: $scope, id: row.note})-[r:RELATED|SUPERSEDES|UNTIED {decision: row.decision}]-(:Note)
  WITH DISTINCT r
  DELETE r
}
CALL () {
  CALL () {
    UNWIND $write.untied AS row
    MATCH (d:Decision {scope: $scope, id: row.decision})
    MATCH (n:Note {scope: $scope, id: row.newer})
    MATCH (o:Note {scope: $scope, id: row.older})
    MATCH (n)-[r:RELATED|SUPERSEDES]->(o)
    RETURN d, r
    UNION
    UNWIND $write.loosed AS row
    MATCH (d:Decision {scope: $scope, id: row.decision})
    MATCH (x:Note {scope: $scope, id: row.note})-[r:RELATED]-(:Note)
    // what ceased to be true is quoted by its words, and only as long as the note has them
    WHERE r.kind IN ['change', 'conflict'] AND NOT (r.former IS NOT NULL AND endNode(r) = x)
      AND (row.sources IS NULL OR (startNode(r) = x AND NOT EXISTS {
        MATCH (:Decision {scope: $scope, id: r.decision})-[:ABOUT {role: 'source'}]->(s:Source) WHERE s.id IN row.sources
      }))
    RETURN d, r
  }
  WITH d, r, startNode(r) AS n, endNode(r) AS o
  CREATE (n)-[u:UNTIED]->(o)
  SET u = properties(r), u.was = type(r), u.untied_by = d.id
  DELETE r
  WITH d, n, o
  UNWIND [n, o] AS x
  WITH DISTINCT d, x WHERE NOT EXISTS { (d)-[:ABOUT {role: 'changed'}]->(x) }
  CREATE (d)-[:ABOUT {role: 'untied', found: x.revision}]->(x)
}
CALL () {
  UNWIND $write.retied AS row
  MATCH (d:Decision {scope: $scope, id: row.decision})
  MATCH (:Decision {scope: $scope, id: row.untied_by})-[:ABOUT]->(n:Note)-[u:UNTIED {untied_by: row.untied_by}]->(o:Note)
  WITH DISTINCT d, n, o, u
  CREATE (n)-[r:$(u.was)]->(o)
  SET r = properties(u), r.was = null, r.untied_by = null
  DELETE u
  WITH d, n, o
  UNWIND [n, o] AS x
  WITH DISTINCT d, x WHERE NOT EXISTS { (d)-[:ABOUT {role: 'changed'}]->(x) }
  CREATE (d)-[:ABOUT {role: 'tied', found: x.revision}]->(x)
}
CALL () {
  UNWIND $write.strengthened AS row
  MATCH (:Note {scope: $scope, id: row.new})-[r:RELATED]->(:Note {scope: $scope, id: row.old}) WHERE r.strengthened_by IS NULL
  SET r.before = r.score, r.score = row.score, r.strengthened_by = row.decision
}
CALL () {
  UNWIND $write.weakened AS row
  MATCH (:Note {scope: $scope, id: row.note})-[r:RELATED|UNTIED {strengthened_by: row.decision}]-(:Note)
  WITH DISTINCT r
  SET r.score = r.before, r.before = null, r.strengthened_by = null
}
CALL () {
  UNWIND $write.retired AS row
  MATCH (n:Note {scope: $scope, id: row.id})
  MATCH (d:Decision {scope: $scope, id: row.decision})
  SET n.was = n.status, n.status = 'past', n.superseded_at = CASE WHEN n.recorded_at > $now THEN n.recorded_at ELSE $now END,
      n.keywords = COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }
  CREATE (d)-[:ABOUT {role: 'retired', revision: n.revision + 1}]->(n)
  REMOVE n:Note
  SET n:Past
  WITH n
  CALL (n) {
    MATCH (n)-[r:SUPPORTS]->(c:Claim)
    DELETE r
    WITH DISTINCT c WHERE NOT EXISTS { (c)<-[:SUPPORTS]-() }
    DELETE c
  }
  MATCH (n)-[r:HAS_KEYWORD|RELATED|SUPERSEDES|UNTIED|IN_BLOCK]-()
  DELETE r
}
// who looks back finds them no more; an undo knows how they were
CALL () {
  UNWIND $write.parted AS row
  MATCH (p:Past {scope: $scope, id: row.id}) WHERE p.apart IS NULL
  SET p.apart = row.apart, p.parted = true,
      p.stamp = toInteger(rand() * 2147483648) * 4294967296 + toInteger(rand() * 4294967296)
}
CALL () {
  UNWIND $write.leaving AS id
  MATCH (x:Source {scope: $scope, id: id})
  SET x.superseded_at = $now
  REMOVE x:Source
  SET x:PastSource
  WITH x
  // what it told of a profile is taken back with it
  CALL (x) {
    MATCH (d:Decision {scope: $scope, kind: 'profile'})-[:ABOUT {role: 'source'}]->(x) WHERE d.undone_by IS NULL
    SET d.undone_by = head([row IN $write.decisions WHERE row.undoes IS NOT NULL | row.id])
  }
  OPTIONAL MATCH (p:Source)-[before:NEXT]->(x)
  OPTIONAL MATCH (x)-[after:NEXT]->(y:Source)
  DELETE before, after
  WITH p, y WHERE p IS NOT NULL AND y IS NOT NULL
  MERGE (p)-[:NEXT]->(y)
}
CALL () {
  UNWIND $write.living AS row
  MATCH (x:Source {scope: $scope, id: row.id})<-[:FROM]-(n:Note)
  WITH x, row, n ORDER BY n.expires_at, n.erase_at, n.id
  WITH x, row, head(collect(n)) AS n, min(n.erase_at) AS erase, collect(n.pinned) AS pinned, head(collect(n.apart)) AS apart
  SET x.begins_at = coalesce(row.begins, x.begins_at)
  SET x.policy = n.policy, x.expires_at = n.expires_at, x.erase_at = erase, x.pinned = any(one IN pinned WHERE one), x.apart = apart
  WITH x
  MATCH (x)-[:WAS]->(p:PastSource)
  SET p.apart = x.apart
}
// no new version: nothing else of it changes, and a long talk would have as many versions as turns
CALL () {
  UNWIND $write.prolonged AS row
  WITH row, datetime({epochMillis: row.expires_at}) AS ends,
       CASE WHEN row.erase_at IS NULL THEN datetime('9999-12-31T00:00:00Z') ELSE datetime({epochMillis: row.erase_at}) END AS erase
  MATCH (x:Source {scope: $scope, session: row.session}) WHERE x.seq >= 0 AND x.policy = row.policy AND x.expires_as IS NULL
    AND x.expires_at > $now AND x.expires_at < ends
  SET x.expires_at = ends, x.erase_at = erase, x.begins_at = $now.epochMillis
  WITH x, row, ends, erase
  MATCH (x)<-[:FROM]-()<-[:SUMS*0..1]-(n:Note) WHERE n.policy = row.policy AND n.expires_at > $now AND n.expires_at < ends
  SET n.expires_at = ends, n.erase_at = erase, n.stamp = n.stamp + 1
  WITH n, row, ends, erase
  MATCH (n)-[:SUMS*0..1]->()-[:FROM]->(y:Source) WHERE y.policy = row.policy AND y.expires_at < ends // other sessions tell it too
  SET y.expires_at = ends, y.erase_at = erase
}
CALL () {
  UNWIND $write.rebuilt AS row
  MATCH (n:Note {scope: $scope, id: row.id})
  SET n += row.properties
  SET n.raw_scoped = n.scope_token + replace(n.raw_terms, ' ', ' ' + n.scope_token),
      n.context_scoped = n.scope_token + replace(n.context_terms, ' ', ' ' + n.scope_token),
      n.expires_at = coalesce(n.kept_expires, n.expires_at), n.erase_at = coalesce(n.kept_erase, n.erase_at),
      n.keywords = CASE WHEN row.losing AND n.keywords IS NOT NULL THEN [] ELSE n.keywords END
  SET n.kept_expires = null, n.kept_erase = null
  WITH n, row
  CALL (n, row) {
    WITH n, row WHERE row.raw_vector IS NOT NULL AND n.raw_embedding IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
    RETURN count(*) AS raw
  }
  CALL (n, row) {
    WITH n, row WHERE row.context_vector IS NOT NULL AND n.context_embedding IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
    RETURN count(*) AS context
  }
  WITH n, row WHERE row.keywords IS NOT NULL
  MATCH (n)-[r:HAS_KEYWORD]->(k:Keyword) WHERE NOT k.name IN row.keywords
  DELETE r
}
CALL () {
  UNWIND $write.erased AS id
  MATCH (n:Note {scope: $scope, id: id})
  OPTIONAL MATCH (n)-[:WAS]->(p:Past)
  DETACH DELETE p, n
}
// end
CALL () {
  UNWIND $write.pairs AS row
  MATCH (a:Keyword {scope: $scope, name: row.a})
  MATCH (b:Keyword {scope: $scope, name: row.b})
  MERGE (a)-[r:CO_OCCUR]->(b)
  ON CREATE SET r.weight = 0
  SET r.weight = r.weight + row.change
  WITH r WHERE r.weight <= 0
  DELETE r
}
// if $revises
CALL () {
  UNWIND $write.lost AS name
  MATCH (k:Keyword {scope: $scope, name: name})
  WHERE NOT EXISTS { (k)<-[:HAS_KEYWORD]-(:Note) }
  DETACH DELETE k
}
// end
// topics, and the moves of their runs, name no keyword that only what is kept apart from now on had
// if $corrects
CALL () {
  UNWIND CASE WHEN $sums.apart THEN $write.lost ELSE [] END AS name
  WITH name WHERE NOT EXISTS { MATCH (:Keyword {scope: $scope, name: name})<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN $statuses }
  WITH collect(name) AS lost
  WHERE size(lost) > 0
  CALL (lost) {
    MATCH (t:Topic {scope: $scope}) WHERE t.id >= '' AND any(name IN t.keywords + coalesce(t.labelled_from, []) WHERE name IN lost)
    SET t.keywords = [name IN t.keywords WHERE NOT name IN lost], t.labelled_from = [], t.labelled_by = ''
    SET t.label = reduce(told = '', name IN t.keywords[..3] | told + CASE told WHEN '' THEN '' ELSE ', ' END + name)
  }
  CALL (lost) {
    MATCH (r:Run {scope: $scope}) WHERE r.id >= '' AND any(name IN lost WHERE r.moves CONTAINS name)
    SET r.moves = '[]'
  }
}
// end
// A keyword is found by its vector as long as two notes carry it that can be read; else the vector rests. What one note alone
// carries leads to no other, and is found with that note; such keywords are two of three, and would fill the index.
CALL () {
  UNWIND $write.lost + $write.gained AS name
  MATCH (k:Keyword {scope: $scope, name: name})
  WITH k, coalesce(k.embedding, k.resting) AS vector,
       size(COLLECT { MATCH (k)<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN $statuses RETURN 0 LIMIT 2 }) = 2 AS shared
  WHERE shared <> (k.embedding IS NOT NULL)
  SET k.embedding = CASE WHEN shared THEN vector END, k.resting = CASE WHEN NOT shared THEN vector END
}
// keywords without a topic join the one that they occur with most, where the last run's bound leaves room for them
CALL (most) {
  UNWIND $write.pairs AS row
  WITH most, row WHERE most IS NOT NULL AND row.change > 0
  UNWIND [row.a, row.b] AS name
  WITH DISTINCT most, name
  MATCH (k:Keyword {scope: $scope, name: name}) WHERE NOT EXISTS { (k)-[:IN_TOPIC]->() }
  CALL (k) {
    MATCH (k)-[r:CO_OCCUR]-(:Keyword)-[:IN_TOPIC]->(t:Topic)
    RETURN t, sum(r.weight) AS weight ORDER BY weight DESC, t.id LIMIT 1
  }
  WITH most, t, k, weight ORDER BY weight DESC, k.name
  WITH most, t, collect(k) AS best
  WITH t, best[..CASE WHEN COUNT { (t)<-[:IN_TOPIC]-() } < most THEN most - COUNT { (t)<-[:IN_TOPIC]-() } ELSE 0 END] AS best
  UNWIND best AS k
  MERGE (k)-[:IN_TOPIC]->(t)
}
RETURN version
