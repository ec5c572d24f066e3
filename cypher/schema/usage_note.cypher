// All readers' use of a note: an erasure forgets it.
CREATE INDEX usage_note IF NOT EXISTS FOR (x:Usage) ON (x.id)
