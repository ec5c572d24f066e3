// Condition outside an index: one of $ways admits the note `n`. An index takes the same as ranges: notes/nearest_within.
// Names are the same or open; as ranges they would be compared by UTF-16 here, where U+E000 comes after U+10FFFF.
any(way IN $ways WHERE n.several IN way.several AND n.said_at >= way.since AND n.said_at <= way.until
  AND (n.session = way.session[0] OR way.session[0] <> way.session[1])
  AND (n.speaker = way.speaker[0] OR way.speaker[0] <> way.speaker[1])
  AND (n.role = way.role[0] OR way.role[0] <> way.role[1])
  AND (n.agent_id = way.agent[0] OR way.agent[0] <> way.agent[1]))
