// Find the claims that a tenant's users may share by the key of their subject.
CREATE INDEX claim_shared_subject IF NOT EXISTS FOR (c:Claim) ON (c.shared_in, c.subject_key)
