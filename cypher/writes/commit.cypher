// One write: all that changes in a scope at once, or nothing if somebody wrote since its version was read (no row then).
// It is a list of operations (fragments/writes), each with rows of its own in $write. An operation runs where it has rows, and sees
// what those before it wrote. Those of additions are always sent; those that revise notes, and those that correct, only where some
// of them have rows: planned as a whole, the first addition took ten seconds. A new operation is a file, and a line here.
// $scope: string    the scope
// $version: integer    as it was when the write was prepared
// $sums: map    by how much the scope's sums change {notes, raw_length, context_length, joined}, when the first of what is written ends {ends: ms or null},
//   and whether any of it is kept apart {apart: a search looks for that only in scopes that ever held some}
// $revises: boolean    whether more is written than an addition writes
// $corrects: boolean    whether more is written than an addition and revised notes
// $statuses: list<string>    of notes that can be read
// $now: datetime    the time of the change
// returns version: what it is now
// use scopes/at_version
SET s.version = s.version + 1,
    s.notes = s.notes + $sums.notes,
    s.raw_length = s.raw_length + $sums.raw_length,
    s.context_length = s.context_length + $sums.context_length,
    s.changed_since = s.changed_since + 1,
    s.notes_since = coalesce(s.notes_since, 0) + $sums.joined,
    s.next_expiry = CASE WHEN $sums.ends IS NULL OR s.next_expiry.epochMillis <= $sums.ends THEN s.next_expiry
                    ELSE datetime({epochMillis: $sums.ends}) END,
    s.keeps_apart = CASE WHEN $sums.apart THEN true ELSE s.keeps_apart END
WITH s.version AS version, s.topics_most AS most, s.blocks_run AS blocks
// if $revises
// use writes/stale_blocks
// end
// use writes/store
// use writes/decide
// use writes/name
// if $corrects
// use writes/reinstate
// end
// use writes/create
// if $revises
// use writes/revise
// end
// if $corrects
// use writes/rewrite
// end
// use writes/relate
// if $corrects
// use writes/cut
// use writes/untie
// use writes/retie
// use writes/strengthen
// use writes/weaken
// use writes/retire
// use writes/part
// use writes/leave
// use writes/live
// use writes/prolong
// use writes/rebuild
// use writes/erase
// end
// use writes/pair
// if $revises
// use writes/lose
// end
// if $corrects
// use writes/unname
// end
// use writes/gain
// use writes/join_topics
RETURN version
