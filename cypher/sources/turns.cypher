// What stands around the passages of some sources in their conversations: the passage or the turn before, and the notes of
// the passage or the turn after.
// $scope: string    the scope
// $ids: list<string>    the sources
// $statuses: list<string>    of notes that can be read
// $followers: list<string>    that the notes of the turns after may have: what was true once, or was evicted, can be read if it is asked for
// $alive: datetime    the present: what ends by then can't be read
// returns id, part (0, unless the source is cut into passages), previous [source with readable] or null, followers [ids of notes]
UNWIND $ids AS id
MATCH (x:Source {scope: $scope, id: id})
WITH x, coalesce(size(x.cuts), 0) AS last, head([(p:Source)-[:NEXT]->(x) | p]) AS turn
UNWIND range(0, last) AS part
WITH x, last, part, CASE WHEN part > 0 THEN x ELSE turn END AS p
WITH x, last, part, p, CASE WHEN part > 0 THEN part - 1 ELSE coalesce(size(p.cuts), 0) END AS before
RETURN x.id AS id, part,
       CASE WHEN p IS NOT NULL THEN p {readable: EXISTS { (p)<-[f:FROM]-()<-[:SUMS*0..1]-(n:Note) WHERE coalesce(f.part, 0) = before AND n.status IN $statuses AND n.expires_at > $alive },
         // use sources/passage source=p part=before place=before
         } END AS previous,
       CASE WHEN part < last THEN [(x)<-[f:FROM]-(n:Note) WHERE f.part = part + 1 AND n.status IN $followers AND n.expires_at > $alive | n.id]
            ELSE [(x)-[:NEXT]->(:Source)<-[f:FROM]-(n:Note) WHERE coalesce(f.part, 0) = 0 AND n.status IN $followers AND n.expires_at > $alive | n.id]
       END AS followers
