// Wait until every index answers.
// $seconds: integer    how long at most
CALL db.awaitIndexes($seconds)
