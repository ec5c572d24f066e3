// One Store a name.
CREATE CONSTRAINT store_name IF NOT EXISTS FOR (x:Store) REQUIRE x.name IS UNIQUE
