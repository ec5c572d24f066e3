// What is to be erased of a scope's sources, and when.
CREATE INDEX source_erase IF NOT EXISTS FOR (x:Source) ON (x.scope, x.erase_at)
