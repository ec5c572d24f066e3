// One Topic of a id in a scope.
CREATE CONSTRAINT topic_id IF NOT EXISTS FOR (x:Topic) REQUIRE (x.scope, x.id) IS UNIQUE
