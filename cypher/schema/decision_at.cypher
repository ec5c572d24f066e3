// Decisions are listed newest first.
CREATE INDEX decision_at IF NOT EXISTS FOR (d:Decision) ON (d.scope, d.at)
