// Let the notes of a schema before 26, and their past versions, say whether several sources tell them.
MATCH (n:Note|Past) WHERE n.several IS NULL
CALL (n) {
  SET n.several = COUNT { (n)-[:SUMS*0..1]->()-[:FROM]->() } > 1
} IN TRANSACTIONS OF 1000 ROWS
