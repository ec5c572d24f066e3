// One Note of a id in a scope.
CREATE CONSTRAINT note_id IF NOT EXISTS FOR (x:Note) REQUIRE (x.scope, x.id) IS UNIQUE
