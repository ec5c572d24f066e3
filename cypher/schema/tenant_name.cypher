// One Tenant a name; in a catalogue alone.
CREATE CONSTRAINT tenant_name IF NOT EXISTS FOR (x:Tenant) REQUIRE x.name IS UNIQUE
