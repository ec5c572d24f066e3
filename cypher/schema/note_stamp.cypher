// A version of a note by its stamp, which is all that a search's first statement names.
CREATE INDEX note_stamp IF NOT EXISTS FOR (n:Note) ON (n.stamp)
