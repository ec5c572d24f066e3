// Put the vectors of keywords of a schema before 15 to rest where no two notes carry them that can be read.
MATCH (k:Keyword)
WHERE k.embedding IS NOT NULL
  AND size(COLLECT { MATCH (k)<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN ['active', 'pending'] RETURN 0 LIMIT 2 }) < 2
CALL (k) {
  SET k.resting = k.embedding, k.embedding = null
} IN TRANSACTIONS OF 1000 ROWS
