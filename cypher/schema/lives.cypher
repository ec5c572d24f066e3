// Give what was written by a schema before 12 the class and the life of what never ends.
MATCH (x:Note|Past|Source|PastSource) WHERE x.policy IS NULL
CALL (x) {
  SET x.policy = 'factual', x.pinned = false,
      x.expires_at = datetime('9999-12-31T00:00:00Z'), x.erase_at = datetime('9999-12-31T00:00:00Z')
} IN TRANSACTIONS OF 1000 ROWS
