// One Hold of a id in a scope.
CREATE CONSTRAINT hold_id IF NOT EXISTS FOR (x:Hold) REQUIRE (x.scope, x.id) IS UNIQUE
