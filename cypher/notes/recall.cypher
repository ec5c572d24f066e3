// The pool for a question: what each channel proposes, scored by both vectors, with its sources. A past version is
// found where $statuses holds 'past', and comes as the note that it was.
// $scopes: list<string>    the scopes read
// $statuses: list<string>    of notes that may be found
// $vector: list<float>    the question's
// $words: string    full-text query made of our own terms
// $pool: integer    notes that each vector index proposes
// $lexical_pool: integer    notes that full text proposes
// $since: datetime    earliest said_at
// $until: datetime    latest said_at
// $session: list<string>    first and last value, the same for one session
// $speaker: list<string>    likewise
// $role: list<string>    likewise
// $agent: list<string>    likewise
// $as_of: list<datetime>    latest valid_from, and what valid_to is later than; the same for one moment
// $known_at: list<datetime>    likewise of recorded_at and superseded_at
// $timed: boolean    whether these two narrow anything; else the hits of full text are spared the reading
// returns sums [{scope, language, notes, raw_length, context_length}], pool [note with terms, cosines, sources, channels]
CALL () {
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
      LIMIT $pool) SCORE AS score
  RETURN n, 'dense_raw' AS channel, score AS raw_score, null AS context_score
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
      LIMIT $pool) SCORE AS score
  RETURN n, 'dense_context' AS channel, null AS raw_score, score AS context_score
  UNION ALL
  CALL db.index.fulltext.queryNodes('note_terms', $words, {limit: $lexical_pool}) YIELD node AS n
  WHERE n.scope IN $scopes AND n.status IN $statuses
    AND n.said_at >= $since AND n.said_at <= $until
    AND n.session >= $session[0] AND n.session <= $session[1]
    AND n.speaker >= $speaker[0] AND n.speaker <= $speaker[1]
    AND n.role >= $role[0] AND n.role <= $role[1]
    AND n.agent_id >= $agent[0] AND n.agent_id <= $agent[1]
    AND (NOT $timed OR n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
                       AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1])
  RETURN n, 'lexical' AS channel, null AS raw_score, null AS context_score
}
WITH n, collect(channel) AS channels, max(raw_score) AS raw_score, max(context_score) AS context_score
WITH collect(n {
       .id, .scope, .raw, .context, .raw_terms, .context_terms, .session, .seq, .speaker, .role, .agent_id, .tags,
       status: CASE n.status WHEN 'past' THEN n.was ELSE n.status END,
       said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
       superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
       raw_cosine: 2 * coalesce(raw_score, vector.similarity.cosine(n.raw_embedding, $vector), 0.5) - 1,
       context_cosine: 2 * coalesce(context_score, vector.similarity.cosine(n.context_embedding, $vector), 0.5) - 1,
       sources: [(n)-[:FROM]->(x:Source|PastSource) | x {.*, said_at: x.said_at.epochMillis}],
       channels: channels
     }) AS pool
RETURN COLLECT { MATCH (s:Scope) WHERE s.scope IN $scopes
                 RETURN s {.scope, .language, .notes, .raw_length, .context_length} } AS sums, pool
