// One Run of a id in a scope.
CREATE CONSTRAINT run_id IF NOT EXISTS FOR (x:Run) REQUIRE (x.scope, x.id) IS UNIQUE
