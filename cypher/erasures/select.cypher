// The sources that are meant, their former texts and those that left included. What is null narrows nothing.
// $scope: string    the scope
// $ids: list<string>    these sources, or null
// $session: string    of this session, or null
// $policy: string    of this class, or null
// $before: datetime    said before this time, or null; what has no time of its own counts from when it came
// returns id, session, text, cuts [places] or null, speaker, role, caption, tags, metadata (JSON)
MATCH (x:Source|PastSource {scope: $scope}) WHERE x.id >= ''
  AND ($ids IS NULL OR x.id IN $ids) AND ($session IS NULL OR x.session = $session) AND ($policy IS NULL OR x.policy = $policy)
  AND ($before IS NULL OR coalesce(x.said_at, head([(x)<-[:FROM]-(n:Note|Past) | n.created_at]), head([(x)<-[:ABOUT]-(d:Decision) | d.at])) < $before)
RETURN x.id AS id, x.session AS session, x.text AS text, x.cuts AS cuts, x.speaker AS speaker, x.role AS role, x.caption AS caption,
       x.tags AS tags, x.metadata AS metadata
ORDER BY id, x:Source DESC
