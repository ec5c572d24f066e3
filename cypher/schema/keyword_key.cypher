// The keyword that a near-identical name means.
CREATE INDEX keyword_key IF NOT EXISTS FOR (k:Keyword) ON (k.scope, k.key)
