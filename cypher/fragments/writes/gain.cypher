// Let a keyword be found by its vector as long as two notes carry it that can be read; else the vector rests. What one note alone
// carries leads to no other, and is found with that note; such keywords are two of three, and would fill the index.
// $write.gain: list<string>    keywords that notes gained, or that notes carry which can be read now; those of writes/lose are looked at too
CALL () {
  UNWIND $write.lose + $write.gain AS name
  MATCH (k:Keyword {scope: $scope, name: name})
  WITH k, coalesce(k.embedding, k.resting) AS vector,
       size(COLLECT { MATCH (k)<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN $statuses RETURN 0 LIMIT 2 }) = 2 AS shared
  WHERE shared <> (k.embedding IS NOT NULL)
  SET k.embedding = CASE WHEN shared THEN vector END, k.resting = CASE WHEN NOT shared THEN vector END
}
