// How long notes lived that an erasure hid until they are made anew.
// $scope: string    the scope
// $ids: list<string>    the notes
// returns id, expires_at, erase_at [ms]
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id}) WHERE n.kept_expires IS NOT NULL
RETURN id, n.kept_expires.epochMillis AS expires_at, n.kept_erase.epochMillis AS erase_at
