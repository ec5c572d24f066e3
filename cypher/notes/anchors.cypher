// Where the pathways of a question begin, as notes/recall takes them: each keyword that they lead over, and to which notes.
// $scopes: list<string>    the scopes read
// $statuses: list<string>    of notes that may be found
// $vector: vector    the question's
// $names: list<string>    keys of keywords that the question may name
// $keywords: integer    keywords nearest to the question; 0 for none
// $topics: integer    topics likewise
// returns languages, anchors [{channel, keyword, topic or null, score, rarity, notes}], the best first
MATCH (s:Scope) WHERE s.scope IN $scopes
WITH collect(DISTINCT s.language) AS languages, sum(s.notes) AS total
CALL (total) {
  CALL (total) {
    WITH $keywords AS most WHERE most > 0
    CALL (most) {
      MATCH (k:Keyword)
        SEARCH k IN (VECTOR INDEX keyword_embedding FOR $vector WHERE k.scope IN $scopes LIMIT $keywords) SCORE AS score
      RETURN k, 2 * score - 1 AS score
      UNION ALL
      MATCH (k:Keyword) WHERE k.scope IN $scopes AND k.key IN $names
      RETURN k, 1.0 AS score
    }
    RETURN 'keywords' AS channel, k, null AS topic, max(score) AS score
    UNION ALL
    WITH $topics AS most WHERE most > 0
    CALL (most) {
      MATCH (t:Topic)
        SEARCH t IN (VECTOR INDEX topic_embedding FOR $vector WHERE t.scope IN $scopes LIMIT $topics) SCORE AS score
      RETURN t, 2 * score - 1 AS score
    }
    MATCH (t)<-[:IN_TOPIC]-(k)
    RETURN 'topics' AS channel, k, t.label AS topic, score
  }
  WITH channel, k, topic, score, COUNT { (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses } AS carried WHERE score > 0 AND carried > 0
  WITH channel, k, topic, score,
       log(1 + (CASE WHEN total > carried THEN total - carried ELSE 0 END + 0.5) / (carried + 0.5)) AS rarity
  ORDER BY channel, score DESC, k.name
  RETURN collect({channel: channel, keyword: k.name, topic: topic, score: score, rarity: rarity,
                  notes: COLLECT { MATCH (k)<-[:HAS_KEYWORD]-(n) WHERE n.status IN $statuses RETURN n.id ORDER BY n.id }}) AS anchors
}
RETURN languages, anchors
