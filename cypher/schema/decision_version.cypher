// Decisions are listed in the order in which they were made, whatever the clock said.
CREATE INDEX decision_version IF NOT EXISTS FOR (d:Decision) ON (d.scope, d.version, d.place)
