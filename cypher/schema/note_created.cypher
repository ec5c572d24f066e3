// The notes of a scope in the order in which they came.
CREATE INDEX note_created IF NOT EXISTS FOR (n:Note) ON (n.scope, n.created_at, n.id)
