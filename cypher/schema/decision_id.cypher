// One Decision of a id in a scope.
CREATE CONSTRAINT decision_id IF NOT EXISTS FOR (x:Decision) REQUIRE (x.scope, x.id) IS UNIQUE
