// One Server a database, whatever it is called and wherever it answers; in a catalogue alone.
CREATE CONSTRAINT server_id IF NOT EXISTS FOR (x:Server) REQUIRE x.id IS UNIQUE
