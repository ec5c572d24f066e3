// What is to be erased of a scope's former versions, and when.
CREATE INDEX past_erase IF NOT EXISTS FOR (x:Past) ON (x.scope, x.erase_at)
