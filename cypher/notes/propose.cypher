// Propose notes for a question: for each channel the stamps of its notes, which is all that is read of them (notes/fetch reads
// the rest). A past version is proposed where $statuses holds 'past'. Pathways (MemFly, section 3.4.1): the notes of the keywords
// nearest to the question and of those that it names, of the keywords of the topics nearest to it, what is tied to the
// notes nearest to it, and the notes of the nearest blocks of which none holds another (LightMem, section 3.5). Ranges stand four times: the name of an index is no parameter, and full text knows no ranges.
// $scopes: list<string>    the scopes read
// $statuses: list<string>    of notes that may be found
// $vector: vector    the question's, or in a later round that of what is asked then
// $others: list<vector>    those of the questions that a model made of it, beside it
// $others_pool: integer    notes that each of these finds
// $words: string    full-text query made of our own terms
// $pool: integer    notes that each vector index proposes; 0 where a range below narrows anything
// $narrowed_pool: integer    likewise where one does, else 0: ranges that are wide open would cost, most in a large scope
// $lexical_pool: integer    notes that full text proposes
// $ways: list<map>    which notes ranges admit, empty where nothing narrows: those of one source by what they have of it, and those of several,
//   of which whoever asks looks at each source, whatever they have of the first
//   several: list<boolean>    whether several sources tell it
//   since, until: datetime    earliest and latest said_at
//   session, speaker, role, agent: list<string>    first and last value, the same for one
// $as_of: list<datetime>    latest valid_from, and what valid_to is later than; the same for one moment. Times are null where nothing narrows
// $known_at: list<datetime>    likewise of recorded_at and superseded_at
// $read: map    how the question was read
//   names: list<string>    keys of keywords that the question may name
//   named: list<vector>    vectors of what a plan names in the question, null for none: the question's then
//   topic: vector    vector of what a plan says that the question is about, null likewise
//   times: list<list<datetime>>    ranges of time that the question names: first moment, and first one after
// $keywords: integer    keywords nearest to each of these; 0 for none
// $topics: integer    topics nearest to it
// $spread: integer    keywords of a topic, and notes of a keyword, that are followed; a topic leads over no keyword of more
// $related: integer    from how many of the nearest notes ties are followed
// $tied: integer    notes that ties lead to
// $blocks: integer    blocks nearest to the question whose notes are proposed, 0 for none
// $block_candidates: integer    blocks among which these are chosen
// $block_notes: integer    notes that they propose
// $least: integer    notes of a block that is never too large (blocks/search tells why)
// $timely: integer    notes that each range of time proposes
// $shown: list<string>    classes whose notes may be found though they are kept apart
// $traced: boolean    whether to name keywords and topics
// $alive: datetime    what ends by then can't be read: the present, or the time of a look back. The plain searches look at it only in scopes
//   where something may have ended that no sweep has taken out yet: so it costs nothing elsewhere, and what ended fills no pool
// $present: datetime    what is to be erased by then is gone
// returns sums [{scope, language, version, notes, raw_length, context_length, waiting: where ranges narrow, whether notes are pending, expiring: whether notes may have expired, apart: whether it ever held some that
//   are kept apart}], proposed [[channel, stamps (null: not within the ranges, or expired; -1: kept apart), superseded_at of each where ranges narrow, score or scores,
//   how many notes carry the keyword, keyword and topic where traced]]: keywords and topics have an entry for each keyword
MATCH (s:Scope) WHERE s.scope IN $scopes
WITH collect(s {.scope, .language, .version, .notes, .raw_length, .context_length,
               waiting: $narrowed_pool > 0 AND EXISTS { MATCH (n:Note {scope: s.scope, status: 'pending'}) WHERE n.expires_at > $alive },
               expiring: coalesce(s.next_expiry <= $alive, false), apart: coalesce(s.keeps_apart, false)}) AS sums
WITH sums, any(s IN sums WHERE s.expiring) AS expiring, any(s IN sums WHERE s.apart) AS apart
CALL (expiring) {
  CALL (expiring) {
    WITH expiring WHERE $pool > 0 AND NOT expiring
    CALL (expiring) {
      MATCH (n:Note)
        SEARCH n IN (VECTOR INDEX note_raw FOR $vector
          WHERE n.scope IN $scopes AND n.status IN $statuses LIMIT $pool) SCORE AS score
      RETURN n, score
    }
    RETURN n, score
    UNION ALL
    WITH expiring WHERE $pool > 0 AND expiring
    CALL (expiring) {
      MATCH (n:Note)
        SEARCH n IN (VECTOR INDEX note_raw FOR $vector
          WHERE n.scope IN $scopes AND n.status IN $statuses AND n.expires_at > $alive LIMIT $pool) SCORE AS score
      RETURN n, score
    }
    RETURN n, score
    // if $narrowed_pool
    UNION ALL
    UNWIND $ways AS way
    CALL (way) {
      MATCH (n:Note|Past)
        SEARCH n IN (VECTOR INDEX note_raw FOR $vector
          WHERE n.scope IN $scopes AND n.status IN $statuses
            AND n.several IN way.several AND n.said_at >= way.since AND n.said_at <= way.until
            AND n.session >= way.session[0] AND n.session <= way.session[1]
            AND n.speaker >= way.speaker[0] AND n.speaker <= way.speaker[1]
            AND n.role >= way.role[0] AND n.role <= way.role[1]
            AND n.agent_id >= way.agent[0] AND n.agent_id <= way.agent[1]
            AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
            AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1]
            AND n.expires_at > $alive
          LIMIT $narrowed_pool) SCORE AS score
      RETURN n, score
    }
    RETURN n, score ORDER BY score DESC
    // end
  }
  RETURN collect(n) AS near, collect(score) AS nearness
}
CALL (sums, near, nearness, expiring, apart) {
  RETURN 'dense_raw' AS channel, near AS notes, null AS score, null AS carried, null AS name
  UNION ALL
  WITH expiring WHERE $pool > 0 AND NOT expiring
  CALL (expiring) {
    MATCH (n:Note)
      SEARCH n IN (VECTOR INDEX note_context FOR $vector WHERE n.scope IN $scopes AND n.status IN $statuses LIMIT $pool)
    RETURN n
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes, null AS score, null AS carried, null AS name
  UNION ALL
  WITH expiring WHERE $pool > 0 AND expiring
  CALL (expiring) {
    MATCH (n:Note)
      SEARCH n IN (VECTOR INDEX note_context FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses AND n.expires_at > $alive LIMIT $pool)
    RETURN n
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes, null AS score, null AS carried, null AS name
  // if $narrowed_pool
  UNION ALL
  UNWIND $ways AS way
  CALL (way) {
    MATCH (n:Note|Past)
      SEARCH n IN (VECTOR INDEX note_context FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses
          AND n.several IN way.several AND n.said_at >= way.since AND n.said_at <= way.until
          AND n.session >= way.session[0] AND n.session <= way.session[1]
          AND n.speaker >= way.speaker[0] AND n.speaker <= way.speaker[1]
          AND n.role >= way.role[0] AND n.role <= way.role[1]
          AND n.agent_id >= way.agent[0] AND n.agent_id <= way.agent[1]
          AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
          AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1]
          AND n.expires_at > $alive
        LIMIT $narrowed_pool)
    RETURN n
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes, null AS score, null AS carried, null AS name
  // end
  // if $others
  UNION ALL
  WITH expiring WHERE $pool > 0 AND NOT expiring
  UNWIND $others AS vector
  CALL (vector) {
    MATCH (n:Note)
      SEARCH n IN (VECTOR INDEX note_context FOR vector WHERE n.scope IN $scopes AND n.status IN $statuses LIMIT $others_pool)
    RETURN n
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes, null AS score, null AS carried, null AS name
  UNION ALL
  WITH expiring WHERE $pool > 0 AND expiring
  UNWIND $others AS vector
  CALL (vector) {
    MATCH (n:Note)
      SEARCH n IN (VECTOR INDEX note_context FOR vector
        WHERE n.scope IN $scopes AND n.status IN $statuses AND n.expires_at > $alive LIMIT $others_pool)
    RETURN n
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes, null AS score, null AS carried, null AS name
  UNION ALL
  UNWIND $ways AS way
  UNWIND $others AS vector
  CALL (way, vector) {
    MATCH (n:Note|Past)
      SEARCH n IN (VECTOR INDEX note_context FOR vector
        WHERE n.scope IN $scopes AND n.status IN $statuses
          AND n.several IN way.several AND n.said_at >= way.since AND n.said_at <= way.until
          AND n.session >= way.session[0] AND n.session <= way.session[1]
          AND n.speaker >= way.speaker[0] AND n.speaker <= way.speaker[1]
          AND n.role >= way.role[0] AND n.role <= way.role[1]
          AND n.agent_id >= way.agent[0] AND n.agent_id <= way.agent[1]
          AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
          AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1]
          AND n.expires_at > $alive
        LIMIT $others_pool)
    RETURN n
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes, null AS score, null AS carried, null AS name
  // end
  UNION ALL
  CALL db.index.fulltext.queryNodes('note_terms', $words, {limit: $lexical_pool}) YIELD node AS n
  RETURN 'lexical' AS channel, collect(n) AS notes, null AS score, null AS carried, null AS name
  // if $read.times
  UNION ALL
  UNWIND $read.times AS time
  CALL (time) {
    MATCH (n:Note|Past)
      SEARCH n IN (VECTOR INDEX note_raw FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses AND n.said_at >= time[0] AND n.valid_from < time[1]
          AND n.expires_at > $alive
        LIMIT $timely)
    RETURN collect(n) AS notes
  }
  RETURN 'time' AS channel, notes, null AS score, null AS carried, null AS name
  // end
  UNION ALL
  CALL () {
    WITH 0 AS here WHERE $keywords > 0
    UNWIND coalesce($read.named, [$vector]) AS vector
    CALL (vector) {
      MATCH (k:Keyword)
        SEARCH k IN (VECTOR INDEX keyword_embedding FOR vector WHERE k.scope IN $scopes LIMIT $keywords) SCORE AS score
      RETURN k, 2 * score - 1 AS score
    }
    RETURN k, score
    UNION ALL
    WITH 0 AS here WHERE $keywords > 0
    CALL (here) { MATCH (k:Keyword) WHERE k.scope IN $scopes AND k.key IN $read.names RETURN k }
    RETURN k, 1.0 AS score
  }
  WITH expiring, k, max(score) AS score WHERE score > 0
  CALL (k, expiring) { MATCH (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses AND (NOT expiring OR n.expires_at > $alive) RETURN n LIMIT $spread }
  WITH k, score, collect(n) AS notes WHERE size(notes) > 0
  RETURN 'keywords' AS channel, notes, score, CASE WHEN size(notes) < $spread THEN size(notes) ELSE COUNT { (k)<-[:HAS_KEYWORD]-() } END AS carried, CASE WHEN $traced THEN [k.name, null] END AS name
  UNION ALL
  WITH expiring, coalesce($read.topic, $vector) AS vector WHERE $topics > 0
  CALL (vector) {
    MATCH (t:Topic)
      SEARCH t IN (VECTOR INDEX topic_embedding FOR vector WHERE t.scope IN $scopes LIMIT $topics) SCORE AS score
    RETURN t, 2 * score - 1 AS score
  }
  CALL (t) { MATCH (t)<-[:IN_TOPIC]-(k) RETURN k, COUNT { (k)<-[:HAS_KEYWORD]-() } AS carried LIMIT $spread }
  WITH expiring, t, k, score WHERE score > 0 AND carried <= $spread
  MATCH (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses AND (NOT expiring OR n.expires_at > $alive)
  WITH t, k, score, collect(n) AS notes
  RETURN 'topics' AS channel, notes, score, size(notes) AS carried, CASE WHEN $traced THEN [k.name, t.label] END AS name
  UNION ALL
  WITH near, nearness, expiring, apart
  UNWIND CASE WHEN apart THEN [place IN range(0, size(near) - 1) WHERE near[place].apart IS NULL][..$related]
              ELSE range(0, CASE WHEN $related < size(near) THEN $related ELSE size(near) END - 1) END AS place
  WITH near[place] AS n, (2 * nearness[place] - 1) AS score, expiring, apart
  MATCH (n)-[r:RELATED]-(m) WHERE m.status IN $statuses AND (NOT expiring OR m.expires_at > $alive) AND (NOT apart OR m.apart IS NULL)
  WITH m, max(score * r.score) AS score
  ORDER BY score DESC, m.stamp LIMIT $tied
  WITH collect(m) AS notes, collect(score) AS score
  RETURN 'related' AS channel, notes, score, null AS carried, null AS name
  // if $blocks
  UNION ALL
  WITH sums, expiring WHERE $blocks > 0
  WITH expiring, toInteger(sqrt(reduce(most = $least * $least, s IN sums | CASE WHEN s.notes > most THEN s.notes ELSE most END))) AS widest
  CALL (widest) {
    MATCH (b:Block)
      SEARCH b IN (VECTOR INDEX block_embedding FOR $vector
        WHERE b.scope IN $scopes AND b.notes <= widest LIMIT $block_candidates) SCORE AS score
    RETURN b, 2 * score - 1 AS score
  }
  WITH expiring, b, score WHERE b.state = 'live' AND score > 0
  ORDER BY score DESC, b.id
  WITH expiring, reduce(chosen = [], one IN collect([b, score]) | CASE
         WHEN size(chosen) < $blocks AND none(c IN chosen WHERE c[0].scope = one[0].scope AND
           (c[0].entered <= one[0].entered AND one[0].left <= c[0].left OR one[0].entered <= c[0].entered AND c[0].left <= one[0].left))
         THEN chosen + [one] ELSE chosen END) AS chosen
  UNWIND chosen AS one
  WITH expiring, one[0] AS b, one[1] AS score
  MATCH (b)<-[:PART_OF*0..]-(:Block)<-[:IN_BLOCK]-(n) WHERE n.status IN $statuses AND (NOT expiring OR n.expires_at > $alive)
  WITH n, max(score) AS score
  ORDER BY score DESC, n.stamp LIMIT $block_notes
  WITH collect(n) AS notes, collect(score) AS score
  RETURN 'blocks' AS channel, notes, score, null AS carried, null AS name
  // end
}
WITH sums, channel, notes, score, carried, name, expiring, apart,
     // other scopes' notes come from nowhere but full text, where two scopes' tokens may be alike
     CASE WHEN $narrowed_pool = 0 THEN [n IN notes | CASE WHEN apart AND n.apart IS NOT NULL AND NOT n.apart IN $shown THEN -1
            WHEN (channel <> 'lexical' OR n.scope IN $scopes) AND (NOT expiring OR n.expires_at > $alive) THEN n.stamp END]
          ELSE [n IN notes | CASE WHEN apart AND n.apart IS NOT NULL AND NOT n.apart IN $shown THEN -1
            WHEN n.scope IN $scopes AND n.status IN $statuses AND any(way IN $ways WHERE n.several IN way.several
              AND n.said_at >= way.since AND n.said_at <= way.until
              // names are the same or open; as ranges they would be compared by UTF-16 here, where U+E000 comes after U+10FFFF
              AND (n.session = way.session[0] OR way.session[0] <> way.session[1])
              AND (n.speaker = way.speaker[0] OR way.speaker[0] <> way.speaker[1])
              AND (n.role = way.role[0] OR way.role[0] <> way.role[1])
              AND (n.agent_id = way.agent[0] OR way.agent[0] <> way.agent[1]))
            AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
            AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1]
            AND n.expires_at > $alive AND n.erase_at > $present THEN n.stamp END] END AS stamps,
     CASE WHEN $narrowed_pool > 0 THEN [n IN notes | n.superseded_at.epochMillis] END AS closed
RETURN sums, collect([channel, stamps, closed, score, carried, name]) AS proposed
