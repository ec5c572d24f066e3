// The channel <channel> of notes/propose: what the vector index <index> has nearest to the question, if $dense names it.
UNION ALL
WITH expiring WHERE '<channel>' IN $dense AND $pool > 0 AND NOT expiring
CALL (expiring) {
  // use notes/nearest index=<index> vector=$vector limit=$pool
}
RETURN '<channel>' AS channel, collect(n) AS notes
UNION ALL
WITH expiring WHERE '<channel>' IN $dense AND $pool > 0 AND expiring
CALL (expiring) {
  // use notes/nearest_alive index=<index> vector=$vector limit=$pool
}
RETURN '<channel>' AS channel, collect(n) AS notes
// if $narrowed_pool
UNION ALL
WITH expiring WHERE '<channel>' IN $dense
UNWIND $ways AS way
CALL (way) {
  // use notes/nearest_within index=<index> vector=$vector limit=$narrowed_pool
}
RETURN '<channel>' AS channel, collect(n) AS notes
// end
