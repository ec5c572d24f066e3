// The scopes with an item that can be read: one scope, and those whose names begin so.
// $scope: string    the one scope, '' for none
// $below: string    what the names of the others begin with
// $prefix: string    what the ids of items begin with
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ends by then can't be read
// returns scope, user, language
MATCH (s:Scope) WHERE (s.scope = $scope OR s.scope STARTS WITH $below) AND s.user <> ''
  AND EXISTS {
    MATCH (x:Source {scope: s.scope})<-[:FROM]-(n:Note)
    WHERE x.id STARTS WITH $prefix AND x.kind = 'item' AND n.status IN $statuses AND n.expires_at > $alive
  }
RETURN s.scope AS scope, s.user AS user, s.language AS language ORDER BY user
