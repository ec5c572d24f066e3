// Search the vector index <index> for the <limit> notes nearest to <vector> that have not ended.
MATCH (n:Note)
  SEARCH n IN (VECTOR INDEX <index> FOR <vector>
    WHERE n.scope IN $scopes AND n.status IN $statuses AND n.expires_at > $alive LIMIT <limit>)
RETURN n
