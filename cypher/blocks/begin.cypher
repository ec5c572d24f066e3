// Take the scope's lock, and go on only if no other run wrote, and no writer unless this is the last attempt.
// $scope: string    the scope
// $version: integer    as it was when the notes were read
// $before: string    id of the last run as it was then, '' for none
// $run: string    id of this run
// $late: boolean    whether notes may have changed since
// returns changed_since: writes that came since
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE coalesce(s.blocks_run, '') = $before AND (s.version = $version OR $late)
SET s.blocks_run = $run, s.blocks_version = $version
RETURN s.version - $version AS changed_since
