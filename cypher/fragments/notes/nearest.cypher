// Search the vector index <index> for the <limit> notes nearest to <vector>. Nothing may have ended, so nothing is asked of ends.
MATCH (n:Note)
  SEARCH n IN (VECTOR INDEX <index> FOR <vector> WHERE n.scope IN $scopes AND n.status IN $statuses LIMIT <limit>)
RETURN n
