// Likewise a former version.
CREATE INDEX past_stamp IF NOT EXISTS FOR (p:Past) ON (p.stamp)
