// Find the claims that a tenant's users may share by the key of their object.
CREATE INDEX claim_shared_object IF NOT EXISTS FOR (c:Claim) ON (c.shared_in, c.object_key)
