// One Usage of a note by a reader: the scope is the reader's, the id the note's.
CREATE CONSTRAINT usage_id IF NOT EXISTS FOR (x:Usage) REQUIRE (x.scope, x.id) IS UNIQUE
