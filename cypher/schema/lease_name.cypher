// One Lease a name.
CREATE CONSTRAINT lease_name IF NOT EXISTS FOR (x:Lease) REQUIRE x.name IS UNIQUE
