// What is to be erased of a scope's notes, and when.
CREATE INDEX note_erase IF NOT EXISTS FOR (x:Note) ON (x.scope, x.erase_at)
