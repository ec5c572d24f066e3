// Count every scope's version up, so that what was prepared before is prepared anew; waits for the writes under way.
MATCH (s:Scope)
CALL (s) { SET s.version = s.version + 1 } IN TRANSACTIONS OF 100 ROWS
