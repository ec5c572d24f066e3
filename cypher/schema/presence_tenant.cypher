// One Presence a tenant; on servers of a catalogue alone.
CREATE CONSTRAINT presence_tenant IF NOT EXISTS FOR (x:Presence) REQUIRE x.tenant IS UNIQUE
