// Find the claims of a tenant's users that say the same.
CREATE INDEX claim_shared IF NOT EXISTS FOR (c:Claim) ON (c.shared_in, c.shared_as)
