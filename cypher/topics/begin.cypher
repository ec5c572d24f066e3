// Take the scope's lock, and go on only if no other run wrote, and no writer unless this is the last attempt.
// $scope: string    the scope
// $version: integer    as it was when the keywords were read
// $notes: integer    notes that had come by then since the run before
// $before: string    id of the last run as it was then, '' for none
// $run: string    id of this run
// $most: integer    keywords that a topic may have until the next run
// $late: boolean    whether notes may have changed since
// returns version
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE coalesce(s.topics_run, '') = $before AND (s.version = $version OR $late)
SET s.topics_run = $run, s.topics_most = $most, s.changed_since = s.version - $version,
    s.notes_since = coalesce(s.notes_since, $notes) - $notes
RETURN s.version AS version
