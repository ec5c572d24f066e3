// Give notes of a schema before 8, and their past versions, the stamps by which searches name them.
MATCH (n:Note|Past) WHERE n.stamp IS NULL
CALL (n) {
  SET n.stamp = toInteger(rand() * 2147483648) * 4294967296 + toInteger(rand() * 4294967296)
} IN TRANSACTIONS OF 1000 ROWS
