// Put the vectors of keywords of a schema before 9 to rest where no note carries them that can be read.
MATCH (k:Keyword)
WHERE k.embedding IS NOT NULL AND NOT EXISTS { (k)<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN ['active', 'pending'] }
CALL (k) {
  SET k.resting = k.embedding, k.embedding = null
} IN TRANSACTIONS OF 1000 ROWS
