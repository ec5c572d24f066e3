// One Key of a hash: by it a secret is looked up.
CREATE CONSTRAINT key_hash IF NOT EXISTS FOR (x:Key) REQUIRE x.hash IS UNIQUE
