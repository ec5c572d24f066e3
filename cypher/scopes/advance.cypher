// Take the scope's lock, and go on only if nobody wrote since its version was read: no row otherwise.
// $scope: string    the scope
// $version: integer    as it was when the write was prepared
// $notes: integer    change of the number of readable notes
// $raw_length: integer    change of their raw texts' length in terms
// $context_length: integer    change of their contexts' length in terms
// $joined: integer    notes whose keywords are new to the graph of keywords
// returns grouped: whether its keywords have topics
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE s.version = $version
SET s.version = s.version + 1,
    s.notes = s.notes + $notes,
    s.raw_length = s.raw_length + $raw_length,
    s.context_length = s.context_length + $context_length,
    s.changed_since = s.changed_since + 1,
    s.notes_since = coalesce(s.notes_since, 0) + $joined
RETURN s.topics_most IS NOT NULL AS grouped
