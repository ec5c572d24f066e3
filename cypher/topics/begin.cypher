// Take the scope's lock, and go on only if no other run wrote, and no writer unless this is the last attempt.
// $scope: string    the scope
// $version: integer    as it was when the keywords were read
// $before: string    id of the last run as it was then, '' for none
// $run: string    id of this run
// $late: boolean    whether notes may have changed since
// returns version
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE coalesce(s.topics_run, '') = $before AND (s.version = $version OR $late)
SET s.topics_run = $run, s.changed_since = s.version - $version
RETURN s.version AS version
