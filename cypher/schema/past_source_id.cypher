// Likewise former versions of sources.
CREATE INDEX past_source_id IF NOT EXISTS FOR (p:PastSource) ON (p.scope, p.id)
