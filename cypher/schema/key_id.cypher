// One Key of a id in a tenant.
CREATE CONSTRAINT key_id IF NOT EXISTS FOR (x:Key) REQUIRE (x.tenant, x.id) IS UNIQUE
