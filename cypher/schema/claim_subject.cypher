// Find the claims of a scope by the key of their subject.
CREATE INDEX claim_subject IF NOT EXISTS FOR (c:Claim) ON (c.scope, c.subject_key)
