// The notes of a scope by their status: those that wait to be constructed are few among many.
CREATE INDEX note_status IF NOT EXISTS FOR (n:Note) ON (n.scope, n.status)
