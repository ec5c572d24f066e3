// Whose profile a decision tells of; others have no subject, and are not in it.
CREATE INDEX decision_subject IF NOT EXISTS FOR (d:Decision) ON (d.scope, d.subject)
