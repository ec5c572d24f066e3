// One Erasure of a id in a scope.
CREATE CONSTRAINT erasure_id IF NOT EXISTS FOR (x:Erasure) REQUIRE (x.scope, x.id) IS UNIQUE
