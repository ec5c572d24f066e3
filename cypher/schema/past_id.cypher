// Former versions are found by the id of their note, also after the note itself is gone.
CREATE INDEX past_id IF NOT EXISTS FOR (p:Past) ON (p.scope, p.id)
