// Sources that are to be erased by now, and with which no erasure has begun. One that a note tells which lives on, as a pinned
// passage of a long message does, waits for that note.
// $scope: string    the scope
// $alive: datetime    the present
// returns id, session
CALL () {
  MATCH (x:Source {scope: $scope}) WHERE x.erase_at > datetime('0001-01-01T00:00:00Z') AND x.erase_at <= $alive
  RETURN x.id AS id, x.session AS session
  UNION
  MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' AND x.erase_at > datetime('0001-01-01T00:00:00Z') AND x.erase_at <= $alive
    AND NOT EXISTS { MATCH (:Source {scope: $scope, id: x.id}) }
  RETURN x.id AS id, x.session AS session
}
WITH id, session WHERE NOT EXISTS { MATCH (:Source|PastSource {scope: $scope, id: id})<-[:FROM]-(n:Note) WHERE n.erase_at > $alive }
RETURN id, session ORDER BY id
