// Mark the terms of a note `n` as its scope's, for the full-text index.
SET n.raw_scoped = n.scope_token + replace(n.raw_terms, ' ', ' ' + n.scope_token),
    n.context_scoped = n.scope_token + replace(n.context_terms, ' ', ' ' + n.scope_token)
