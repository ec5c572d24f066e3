// Propose notes by the pathways of a question (MemFly, section 3.4.1): those of the keywords nearest to it and of those that it
// names, of the keywords of the topics nearest to it, and those of the nearest blocks of which none holds another (LightMem,
// section 3.5). They are of now: no look back takes them. What is tied to notes: notes/tied. Ranges are those of notes/propose.
// $scopes: list<string>    the scopes read
// $statuses: list<string>    of notes that may be found
// $vector: vector    the question's
// $names: list<string>    keys of keywords that the question may name
// $named: list<vector>    vectors of what a plan names in the question, null for none: the question's then
// $topic: vector    vector of what a plan says that the question is about, null likewise
// $keywords: integer    keywords nearest to each of these; 0 for none
// $topics: integer    topics nearest to it
// $spread: integer    keywords of a topic, those of fewest notes first, and notes of a keyword that are followed; a topic leads
//   over no keyword of more
// $ordered: boolean    whether the newest notes of a keyword are followed, not whichever are found first: that reads all of them
// $blocks: integer    blocks nearest to the question whose notes are proposed, 0 for none
// $block_candidates: integer    blocks among which these are chosen
// $block_notes: integer    notes that they propose
// $widest: integer    notes of a block, at most
// $traced: boolean    whether to name keywords and topics
// $narrow: boolean    whether a range below narrows anything
// $ways: list<map>    which notes ranges admit
// $shown: list<string>    classes whose notes may be found though they are kept apart
// $expiring: boolean    whether notes may have expired
// $apart: boolean    whether a scope ever held some that are kept apart
// $alive: datetime    what ends by then can't be read: the present, or the time of a look back
// $present: datetime    what is to be erased by then is gone
// returns proposed [[channel, stamps (null: not within the ranges, expired or kept apart), null, score or scores, how many notes
//   carry the keyword, keyword and topic where traced]]: keywords and topics have an entry for each keyword
CALL () {
  CALL () {
    WITH 0 AS here WHERE $keywords > 0
    UNWIND coalesce($named, [$vector]) AS vector
    CALL (vector) {
      MATCH (k:Keyword)
        SEARCH k IN (VECTOR INDEX keyword_embedding FOR vector WHERE k.scope IN $scopes LIMIT $keywords) SCORE AS score
      RETURN k, 2 * score - 1 AS score
    }
    RETURN k, score
    UNION ALL
    WITH 0 AS here WHERE $keywords > 0
    CALL (here) { MATCH (k:Keyword) WHERE k.scope IN $scopes AND k.key IN $names RETURN k }
    RETURN k, 1.0 AS score
  }
  WITH k, max(score) AS score WHERE score > 0
  CALL (k) {
    MATCH (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses AND (NOT $expiring OR n.expires_at > $alive)
    RETURN n
    // if $ordered
    ORDER BY n.stamp DESC
    // end
    LIMIT $spread
  }
  WITH k, score, collect(n) AS notes WHERE size(notes) > 0
  RETURN 'keywords' AS channel, notes, score, CASE WHEN size(notes) < $spread THEN size(notes) ELSE COUNT { (k)<-[:HAS_KEYWORD]-() } END AS carried, CASE WHEN $traced THEN [k.name, null] END AS name
  UNION ALL
  WITH coalesce($topic, $vector) AS vector WHERE $topics > 0
  CALL (vector) {
    MATCH (t:Topic)
      SEARCH t IN (VECTOR INDEX topic_embedding FOR vector WHERE t.scope IN $scopes LIMIT $topics) SCORE AS score
    RETURN t, 2 * score - 1 AS score
  }
  CALL (t) {
    MATCH (t)<-[:IN_TOPIC]-(k)
    WITH k, COUNT { (k)<-[:HAS_KEYWORD]-() } AS carried WHERE carried <= $spread
    RETURN k ORDER BY carried, k.key LIMIT $spread
  }
  WITH t, k, score WHERE score > 0
  MATCH (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses AND (NOT $expiring OR n.expires_at > $alive)
  WITH t, k, score, collect(n) AS notes
  RETURN 'topics' AS channel, notes, score, size(notes) AS carried, CASE WHEN $traced THEN [k.name, t.label] END AS name
  // if $blocks
  UNION ALL
  WITH 0 AS here WHERE $blocks > 0
  CALL (here) {
    MATCH (b:Block)
      SEARCH b IN (VECTOR INDEX block_embedding FOR $vector
        WHERE b.scope IN $scopes AND b.notes <= $widest LIMIT $block_candidates) SCORE AS score
    RETURN b, 2 * score - 1 AS score
  }
  WITH b, score WHERE b.state = 'live' AND score > 0
  ORDER BY score DESC, b.id
  WITH reduce(chosen = [], one IN collect([b, score]) | CASE
         WHEN size(chosen) < $blocks AND none(c IN chosen WHERE c[0].scope = one[0].scope AND
           (c[0].entered <= one[0].entered AND one[0].left <= c[0].left OR one[0].entered <= c[0].entered AND c[0].left <= one[0].left))
         THEN chosen + [one] ELSE chosen END) AS chosen
  UNWIND chosen AS one
  WITH one[0] AS b, one[1] AS score
  MATCH (b)<-[:PART_OF*0..]-(:Block)<-[:IN_BLOCK]-(n) WHERE n.status IN $statuses AND (NOT $expiring OR n.expires_at > $alive)
  WITH n, max(score) AS score
  ORDER BY score DESC, n.stamp LIMIT $block_notes
  WITH collect(n) AS notes, collect(score) AS score
  RETURN 'blocks' AS channel, notes, score, null AS carried, null AS name
  // end
}
RETURN collect([channel, [n IN notes | CASE
    WHEN (NOT $apart OR n.apart IS NULL OR n.apart IN $shown) AND (NOT $expiring OR n.expires_at > $alive) AND (NOT $narrow OR
      // use notes/ranges
      AND n.expires_at > $alive AND n.erase_at > $present) THEN n.stamp END], null, score, carried, name]) AS proposed
