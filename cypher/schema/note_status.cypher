// The notes of a scope by their status, and when they end: those that wait to be constructed, and those that have expired,
// are few among many.
CREATE INDEX note_status IF NOT EXISTS FOR (n:Note) ON (n.scope, n.status, n.expires_at)
