// Give notes of a schema before 7, and their past versions, the terms that full text holds. Line ends stood between terms.
MATCH (n:Note|Past)
CALL (n) {
  SET n.scope_token = left(n.scope_token, 10), n.raw_terms = replace(n.raw_terms, '\n', ' ')
  SET n.raw_scoped = n.scope_token + replace(n.raw_terms, ' ', ' ' + n.scope_token),
      n.context_scoped = n.scope_token + replace(n.context_terms, ' ', ' ' + n.scope_token)
} IN TRANSACTIONS OF 1000 ROWS
