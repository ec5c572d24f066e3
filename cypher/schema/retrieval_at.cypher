// What a reader was given, and when.
CREATE INDEX retrieval_at IF NOT EXISTS FOR (x:Retrieval) ON (x.scope, x.at)
