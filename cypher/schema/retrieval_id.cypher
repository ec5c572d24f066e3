// One Retrieval of an id in each scope, the reader's.
CREATE CONSTRAINT retrieval_id IF NOT EXISTS FOR (x:Retrieval) REQUIRE (x.scope, x.id) IS UNIQUE
