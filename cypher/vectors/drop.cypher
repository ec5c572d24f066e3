// Remove all vectors of this set, whatever holds them.
MATCH (n:Note|Past|Keyword|Topic|Block|Claim)
WHERE n.raw_embedding IS NOT NULL OR n.context_embedding IS NOT NULL OR n.embedding IS NOT NULL OR n.resting IS NOT NULL
CALL (n) { REMOVE n.raw_embedding, n.context_embedding, n.embedding, n.resting } IN TRANSACTIONS OF 1000 ROWS
