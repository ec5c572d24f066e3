// Let all who write wait until this transaction ends.
MATCH (s:Scope)
WITH s ORDER BY s.scope
SET s.lock = true
