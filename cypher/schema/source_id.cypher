// One Source of a id in a scope.
CREATE CONSTRAINT source_id IF NOT EXISTS FOR (x:Source) REQUIRE (x.scope, x.id) IS UNIQUE
