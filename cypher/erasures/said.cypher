// A page of what the sources of a scope say, by their ids, in all of their texts: also of those that are deleted, replaced or archived, or have no note.
// $scope: string    the scope
// $after: string    the last id seen
// $limit: integer    ids on a page
// $present: datetime    what is to be erased by then is gone
// returns id, texts [text, caption or null, cuts [places] or null, tags, metadata (JSON)], written [what a user wrote of a note of it],
//         notes [ids of those that tell it now, or did, or sum it], statuses [of those that tell it],
//         changes [ids of notes of which one of these took the place, or that took its place]
CALL () {
  MATCH (x:Source {scope: $scope}) WHERE x.id > $after AND x.erase_at > $present RETURN x.id AS id ORDER BY id LIMIT $limit
  UNION
  MATCH (x:PastSource {scope: $scope}) WHERE x.id > $after AND x.erase_at > $present RETURN x.id AS id ORDER BY id LIMIT $limit
}
WITH DISTINCT id ORDER BY id LIMIT $limit
RETURN id,
       COLLECT { MATCH (x:Source|PastSource {scope: $scope, id: id}) RETURN x {.text, .caption, .cuts, .tags, .metadata} } AS texts,
       COLLECT { MATCH (:Source|PastSource {scope: $scope, id: id})<-[:FROM]-(n:Note|Past) WHERE n.constructed_by = 'user'
                 UNWIND n.raw AS said RETURN DISTINCT said } AS written,
       COLLECT { MATCH (:Source|PastSource {scope: $scope, id: id})<-[:FROM]-()<-[:SUMS*0..1]-(n:Note|Past) RETURN DISTINCT n.id } AS notes,
       COLLECT { MATCH (:Source|PastSource {scope: $scope, id: id})<-[:FROM]-(n:Note) RETURN DISTINCT n.status } AS statuses,
       COLLECT { MATCH (:Source|PastSource {scope: $scope, id: id})<-[:FROM]-(n:Note)-[r:SUPERSEDES|RELATED]-(o:Note)
                 WHERE type(r) = 'SUPERSEDES' OR r.kind = 'change' RETURN DISTINCT o.id } AS changes
ORDER BY id
