// The turns of a session in order; its last turn above all.
CREATE INDEX source_session IF NOT EXISTS FOR (s:Source) ON (s.scope, s.session, s.seq)
