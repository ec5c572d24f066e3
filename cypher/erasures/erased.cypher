// The sources that an erasure of everything took, their former texts included, and that are still there.
// $scope: string    the scope
// $id: string    the erasure
// returns id, session, text, cuts [places] or null, speaker, role, caption, tags, metadata (JSON)
MATCH (x:Erased {scope: $scope, erasure: $id}) WHERE x.text IS NOT NULL
RETURN x.id AS id, x.session AS session, x.text AS text, x.cuts AS cuts, x.speaker AS speaker, x.role AS role, x.caption AS caption,
       x.tags AS tags, x.metadata AS metadata
ORDER BY id
