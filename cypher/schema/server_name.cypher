// One Server a name; in a catalogue alone.
CREATE CONSTRAINT server_name IF NOT EXISTS FOR (x:Server) REQUIRE x.name IS UNIQUE
