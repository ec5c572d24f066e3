// One Claim of a id in a scope.
CREATE CONSTRAINT claim_id IF NOT EXISTS FOR (x:Claim) REQUIRE (x.scope, x.id) IS UNIQUE
