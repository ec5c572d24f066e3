// One Receipt of a number in a tenant's chain.
CREATE CONSTRAINT receipt_number IF NOT EXISTS FOR (x:Receipt) REQUIRE (x.tenant, x.number) IS UNIQUE
