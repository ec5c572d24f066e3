// One BlockRun of a id in a scope.
CREATE CONSTRAINT block_run_id IF NOT EXISTS FOR (x:BlockRun) REQUIRE (x.scope, x.id) IS UNIQUE
