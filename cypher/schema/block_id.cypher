// One Block of a id in a scope.
CREATE CONSTRAINT block_id IF NOT EXISTS FOR (x:Block) REQUIRE (x.scope, x.id) IS UNIQUE
