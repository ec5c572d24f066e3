// Give the database an id, unless it has one.
// returns id
MATCH (s:Store {name: 'store'})
SET s.lock = true
SET s.id = coalesce(s.id, randomUUID())
RETURN s.id AS id
