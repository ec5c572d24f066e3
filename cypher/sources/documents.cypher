// The documents and files of code of a folder of which there is something to read.
// $scope: string    the scope
// $folder: string    what their ids begin with
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ends by then can't be read
// returns document, its id
MATCH (x:Source {scope: $scope})
WHERE x.session STARTS WITH $folder AND x.seq >= 0 AND (x.kind = 'document' AND x.id STARTS WITH x.session + '#' OR x.kind = 'code' AND x.id STARTS WITH x.session + '::')
  AND EXISTS { (x)<-[:FROM]-()<-[:SUMS*0..1]-(n:Note) WHERE n.status IN $statuses AND n.expires_at > $alive }
RETURN DISTINCT x.session AS document ORDER BY document
