// Condition: $filters admit the note `n`. Of a note of several sources, whoever asks looks at each source.
AND (n.several OR n.said_at >= $filters.since AND n.said_at <= $filters.until
  AND (n.session = $filters.session[0] OR $filters.session[0] <> $filters.session[1])
  AND (n.speaker = $filters.speaker[0] OR $filters.speaker[0] <> $filters.speaker[1])
  AND (n.role = $filters.role[0] OR $filters.role[0] <> $filters.role[1])
  AND (n.agent_id = $filters.agent[0] OR $filters.agent[0] <> $filters.agent[1])
  AND all(tag IN $filters.tags WHERE tag IN n.tags))
