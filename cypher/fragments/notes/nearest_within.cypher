// Search the vector index <index> for the <limit> notes and former versions nearest to <vector> that a `way` of $ways admits.
MATCH (n:Note|Past)
  SEARCH n IN (VECTOR INDEX <index> FOR <vector>
    WHERE n.scope IN $scopes AND n.status IN $statuses
      AND n.several IN way.several AND n.said_at >= way.since AND n.said_at <= way.until
      AND n.session >= way.session[0] AND n.session <= way.session[1]
      AND n.speaker >= way.speaker[0] AND n.speaker <= way.speaker[1]
      AND n.role >= way.role[0] AND n.role <= way.role[1]
      AND n.agent_id >= way.agent[0] AND n.agent_id <= way.agent[1]
      // use notes/as_of
      AND n.expires_at > $alive
    LIMIT <limit>)
RETURN n
