// The pool for a question: what each channel proposes, scored by both vectors, with its sources. A past version is
// found where $statuses holds 'past', and comes as the note that it was. Pathways (MemFly, section 3.4.1): notes by the
// keywords and topics nearest to the question, each keyword counting by its rarity, and what is tied to the best of these.
// $scopes: list<string>    the scopes read
// $statuses: list<string>    of notes that may be found
// $vector: vector    the question's, or in a later round that of what is asked then
// $asked: vector    the first question's in a later round, null in the first
// $words: string    full-text query made of our own terms
// $pool: integer    notes that each vector index proposes; 0 where a range below narrows anything
// $narrowed_pool: integer    likewise where one does, else 0: ranges that are wide open would cost, most in a large scope
// $lexical_pool: integer    notes that full text proposes
// $since: datetime    earliest said_at
// $until: datetime    latest said_at
// $session: list<string>    first and last value, the same for one session
// $speaker: list<string>    likewise
// $role: list<string>    likewise
// $agent: list<string>    likewise
// $as_of: list<datetime>    latest valid_from, and what valid_to is later than; the same for one moment
// $known_at: list<datetime>    likewise of recorded_at and superseded_at
// $names: list<string>    keys of keywords that the question may name
// $named: list<vector>    vectors of what a plan names in the question, null for none: the question's then
// $keywords: integer    keywords nearest to each of these; 0 for none
// $topic: vector    vector of what a plan says that the question is about, null likewise
// $topics: integer    topics nearest to it
// $anchored: integer    notes that each pathway proposes
// $related: integer    of these, from how many ties are followed
// $times: list<list<datetime>>    ranges of time that the question names: first moment, and first one after
// returns sums [{scope, language, notes, raw_length, context_length, waiting: where ranges narrow, whether notes are pending}], pool [note with terms, cosines, sources, channels, pathways' scores]
MATCH (s:Scope) WHERE s.scope IN $scopes
WITH collect(s {.scope, .language, .notes, .raw_length, .context_length,
               waiting: $narrowed_pool > 0 AND EXISTS { MATCH (n:Note {scope: s.scope, status: 'pending'}) }}) AS sums, sum(s.notes) AS total
WITH sums, total, vector_dimension_count($vector) AS dimensions
CALL (total) {
  CALL (total) {
    WITH $keywords AS most WHERE most > 0
    CALL (most) {
      UNWIND coalesce($named, [$vector]) AS near
      CALL (near) {
        MATCH (k:Keyword)
          SEARCH k IN (VECTOR INDEX keyword_embedding FOR near WHERE k.scope IN $scopes LIMIT $keywords) SCORE AS score
        RETURN k, score
      }
      RETURN k, 2 * score - 1 AS score
      UNION ALL
      MATCH (k:Keyword) WHERE k.scope IN $scopes AND k.key IN $names
      RETURN k, 1.0 AS score
    }
    RETURN 'keywords' AS channel, k, max(score) AS score
    UNION ALL
    WITH $topics AS most, coalesce($topic, $vector) AS near WHERE most > 0
    CALL (near) {
      MATCH (t:Topic)
        SEARCH t IN (VECTOR INDEX topic_embedding FOR near WHERE t.scope IN $scopes LIMIT $topics) SCORE AS score
      RETURN t, 2 * score - 1 AS score
    }
    MATCH (t)<-[:IN_TOPIC]-(k)
    RETURN 'topics' AS channel, k, score
  }
  WITH channel, k, score, COUNT { (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses } AS carried WHERE score > 0 AND carried > 0
  WITH channel, k, score * log(1 + (CASE WHEN total > carried THEN total - carried ELSE 0 END + 0.5) / (carried + 0.5)) AS weight
  MATCH (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses
  WITH channel, n, sum(weight) AS score
  ORDER BY score DESC, n.id
  WITH channel, collect({n: n, score: score})[..$anchored] AS best
  RETURN collect({channel: channel, best: best}) AS anchors
}
CALL (anchors) {
  UNWIND anchors AS anchor
  UNWIND anchor.best AS one
  WITH one.n AS n, max(one.score / anchor.best[0].score) AS share
  ORDER BY share DESC, n.id LIMIT $related
  MATCH (n)-[r:RELATED]-(m) WHERE m.status IN $statuses
  WITH m, max(share * r.score) AS score
  ORDER BY score DESC, m.id LIMIT $anchored
  RETURN collect({n: m, score: score}) AS tied
}
CALL (anchors, tied, dimensions) {
  CALL (anchors, tied) {
    MATCH (n:Note)
      SEARCH n IN (VECTOR INDEX note_raw FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses
        LIMIT $pool) SCORE AS score
    RETURN n, 'dense_raw' AS channel, score AS raw_score, null AS context_score, null AS score
    UNION ALL
    MATCH (n:Note|Past)
      SEARCH n IN (VECTOR INDEX note_raw FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses
          AND n.said_at >= $since AND n.said_at <= $until
          AND n.session >= $session[0] AND n.session <= $session[1]
          AND n.speaker >= $speaker[0] AND n.speaker <= $speaker[1]
          AND n.role >= $role[0] AND n.role <= $role[1]
          AND n.agent_id >= $agent[0] AND n.agent_id <= $agent[1]
          AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
          AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1]
        LIMIT $narrowed_pool) SCORE AS score
    RETURN n, 'dense_raw' AS channel, score AS raw_score, null AS context_score, null AS score
    UNION ALL
    MATCH (n:Note)
      SEARCH n IN (VECTOR INDEX note_context FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses
        LIMIT $pool) SCORE AS score
    RETURN n, 'dense_context' AS channel, null AS raw_score, score AS context_score, null AS score
    UNION ALL
    MATCH (n:Note|Past)
      SEARCH n IN (VECTOR INDEX note_context FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses
          AND n.said_at >= $since AND n.said_at <= $until
          AND n.session >= $session[0] AND n.session <= $session[1]
          AND n.speaker >= $speaker[0] AND n.speaker <= $speaker[1]
          AND n.role >= $role[0] AND n.role <= $role[1]
          AND n.agent_id >= $agent[0] AND n.agent_id <= $agent[1]
          AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
          AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1]
        LIMIT $narrowed_pool) SCORE AS score
    RETURN n, 'dense_context' AS channel, null AS raw_score, score AS context_score, null AS score
    UNION ALL
    CALL (anchors, tied) {
      CALL db.index.fulltext.queryNodes('note_terms', $words, {limit: $lexical_pool}) YIELD node AS n
      RETURN n, 'lexical' AS channel, null AS score
      UNION ALL
      UNWIND $times AS time
      CALL (time) {
        MATCH (n:Note|Past)
          SEARCH n IN (VECTOR INDEX note_raw FOR $vector
            WHERE n.scope IN $scopes AND n.status IN $statuses AND n.said_at >= time[0] AND n.valid_from < time[1]
            LIMIT $anchored) SCORE AS score
        RETURN n
      }
      RETURN n, 'time' AS channel, null AS score
      UNION ALL
      UNWIND anchors + [{channel: 'related', best: tied}] AS anchor
      UNWIND anchor.best AS one
      RETURN one.n AS n, anchor.channel AS channel, one.score AS score
    }
    WITH n, channel, score
    WHERE n.scope IN $scopes AND n.status IN $statuses
      AND ($narrowed_pool = 0 OR n.said_at >= $since AND n.said_at <= $until
        // names are the same or open; as ranges they would be compared by UTF-16 here, where U+E000 comes after U+10FFFF
        AND (n.session = $session[0] OR $session[0] <> $session[1])
        AND (n.speaker = $speaker[0] OR $speaker[0] <> $speaker[1])
        AND (n.role = $role[0] OR $role[0] <> $role[1])
        AND (n.agent_id = $agent[0] OR $agent[0] <> $agent[1])
        AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
        AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1])
    RETURN n, channel, null AS raw_score, null AS context_score, score
  }
  WITH n, collect(channel) AS channels, max(raw_score) AS raw_score, max(context_score) AS context_score,
       sum(CASE channel WHEN 'keywords' THEN score END) AS keywords, sum(CASE channel WHEN 'topics' THEN score END) AS topics,
       sum(CASE channel WHEN 'related' THEN score END) AS related
  RETURN collect(n {
         .id, .scope, .raw, .context, .raw_terms, .context_terms, .session, .seq, .speaker, .role, .agent_id, .tags,
         status: CASE n.status WHEN 'past' THEN n.was ELSE n.status END,
         said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
         superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
         raw_cosine: coalesce(
           2 * raw_score - 1, 1 - vector_distance(vector(n.raw_embedding, dimensions, FLOAT32), $vector, COSINE), 0.0),
         context_cosine: coalesce(
           2 * context_score - 1, 1 - vector_distance(vector(n.context_embedding, dimensions, FLOAT32), $vector, COSINE), 0.0),
         asked_cosines: CASE WHEN $asked IS NOT NULL THEN
           [v IN [n.raw_embedding, n.context_embedding] |
             coalesce(1 - vector_distance(vector(v, dimensions, FLOAT32), $asked, COSINE), 0.0)] END,
         sources: [(n)-[:FROM]->(x) | x {.*, said_at: x.said_at.epochMillis}],
         channels: channels, pathways: {keywords: keywords, topics: topics, related: related}
       }) AS pool
}
RETURN sums, pool
