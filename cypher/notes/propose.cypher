// Propose notes for a question: for each channel the stamps of its notes, which is all that is read of them (notes/features reads
// the rest). A past version is proposed where $statuses holds 'past'. Full text knows no ranges: they are looked at afterwards.
// $scopes: list<string>    the scopes read
// $statuses: list<string>    of notes that may be found
// $dense: list<string>    the channels by which vectors propose
// $vector: vector    the question's, or in a later round that of what is asked then
// $others: list<vector>    those of the questions that a model made of it, beside it
// $others_pool: integer    notes that each of these finds
// $words: string    full-text query made of our own terms
// $pool: integer    notes that each of $dense proposes; 0 where a range below narrows anything
// $narrowed_pool: integer    likewise where one does, else 0: ranges that are wide open would cost, most in a large scope
// $lexical_pool: integer    notes that full text proposes
// $ways: list<map>    which notes ranges admit, empty where nothing narrows: those of one source by what they have of it, and those of several,
//   of which whoever asks looks at each source, whatever they have of the first
//   several: list<boolean>    whether several sources tell it
//   since, until: datetime    earliest and latest said_at
//   session, speaker, role, agent: list<string>    first and last value, the same for one
// $as_of: list<datetime>    latest valid_from, and what valid_to is later than; the same for one moment. Times are null where nothing narrows
// $known_at: list<datetime>    likewise of recorded_at and superseded_at
// $times: list<list<datetime>>    ranges of time that the question names: first moment, and first one after
// $timely: integer    notes that each range of time proposes
// $shown: list<string>    classes whose notes may be found though they are kept apart
// $alive: datetime    what ends by then can't be read: the present, or the time of a look back. The plain searches look at it only in scopes
//   where something may have ended that no sweep has taken out yet: so it costs nothing elsewhere, and what ended fills no pool
// $present: datetime    what is to be erased by then is gone
// returns sums [{scope, language, version, notes, raw_length, context_length, waiting: where ranges narrow, whether notes are pending, expiring: whether notes may have expired, apart: whether it ever held some that
//   are kept apart}], proposed [[channel, stamps (null: not within the ranges, or expired; -1: kept apart), superseded_at of each where ranges narrow, and three nulls where notes/pathways tells more]],
//   store [set of vectors that the database searches, catalogue of the servers that it is one of]
MATCH (s:Scope) WHERE s.scope IN $scopes
WITH collect(s {.scope, .language, .version, .notes, .raw_length, .context_length,
               waiting: $narrowed_pool > 0 AND EXISTS { MATCH (n:Note {scope: s.scope, status: 'pending'}) WHERE n.expires_at > $alive },
               expiring: coalesce(s.next_expiry <= $alive, false), apart: coalesce(s.keeps_apart, false)}) AS sums
WITH sums, any(s IN sums WHERE s.expiring) AS expiring, any(s IN sums WHERE s.apart) AS apart
CALL (expiring) {
  // a row in any case: where nothing is found, the sums are returned all the same
  RETURN 'dense_raw' AS channel, [] AS notes
  // use notes/dense channel=dense_raw index=note_raw
  // use notes/dense channel=dense_context index=note_context
  // if $others
  UNION ALL
  WITH expiring WHERE $pool > 0 AND NOT expiring
  UNWIND $others AS vector
  CALL (vector) {
    // use notes/nearest index=note_context vector=vector limit=$others_pool
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes
  UNION ALL
  WITH expiring WHERE $pool > 0 AND expiring
  UNWIND $others AS vector
  CALL (vector) {
    // use notes/nearest_alive index=note_context vector=vector limit=$others_pool
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes
  UNION ALL
  UNWIND $ways AS way
  UNWIND $others AS vector
  CALL (way, vector) {
    // use notes/nearest_within index=note_context vector=vector limit=$others_pool
  }
  RETURN 'dense_context' AS channel, collect(n) AS notes
  // end
  UNION ALL
  CALL db.index.fulltext.queryNodes('note_terms', $words, {limit: $lexical_pool}) YIELD node AS n
  RETURN 'lexical' AS channel, collect(n) AS notes
  // if $times
  UNION ALL
  UNWIND $times AS time
  CALL (time) {
    MATCH (n:Note|Past)
      SEARCH n IN (VECTOR INDEX note_raw FOR $vector
        WHERE n.scope IN $scopes AND n.status IN $statuses AND n.said_at >= time[0] AND n.valid_from < time[1]
          AND n.expires_at > $alive
        LIMIT $timely)
    RETURN collect(n) AS notes
  }
  RETURN 'time' AS channel, notes
  // end
}
WITH sums, channel, notes, expiring, apart,
     // other scopes' notes come from nowhere but full text, where two scopes' tokens may be alike
     CASE WHEN $narrowed_pool = 0 THEN [n IN notes | CASE WHEN apart AND n.apart IS NOT NULL AND NOT n.apart IN $shown THEN -1
            WHEN (channel <> 'lexical' OR n.scope IN $scopes) AND (NOT expiring OR n.expires_at > $alive) THEN n.stamp END]
          ELSE [n IN notes | CASE WHEN apart AND n.apart IS NOT NULL AND NOT n.apart IN $shown THEN -1
            WHEN n.scope IN $scopes AND n.status IN $statuses AND
              // use notes/ranges
              // use notes/as_of
            AND n.expires_at > $alive AND n.erase_at > $present THEN n.stamp END] END AS stamps,
     CASE WHEN $narrowed_pool > 0 THEN [n IN notes | n.superseded_at.epochMillis] END AS closed
RETURN sums, collect([channel, stamps, closed, null, null, null]) AS proposed,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN [coalesce(x.vectors, 1), x.catalogue] }) AS store
