// Find the claims of a scope by the key of their object.
CREATE INDEX claim_object IF NOT EXISTS FOR (c:Claim) ON (c.scope, c.object_key)
