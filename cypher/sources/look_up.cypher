// What a write needs to know beforehand of the scope, of sources and of keywords; no row if there is no such scope.
// $scope: string    the scope
// $ids: list<string>    ids of the sources to add
// $sessions: list<string>    their sessions, without ''
// $keys: list<string>    keys of the keywords they may carry
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ends by then can't be read
// returns version, language, notes, store [schema, set of vectors, catalogue], known [{id, hashes, ended (it is to be erased by now), notes [{id, status, expired}: of an archived one what sums it]}], tails [source, its last passage, with readable], keywords [{key, name}]
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, s.language AS language, s.notes AS notes,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN [coalesce(x.upgrading, x.schema), coalesce(x.vectors, 1), x.catalogue] }) AS store,
       COLLECT {
         UNWIND $ids AS id
         MATCH (x:Source {scope: $scope, id: id})
         RETURN {id: id, hashes: [x.hash] + [(x)-[:WAS]->(p:PastSource) | p.hash],
                 ended: x.erase_at <= $alive AND NOT EXISTS { (x)<-[:FROM]-(m:Note) WHERE m.erase_at > $alive },
                 notes: COLLECT {
                   MATCH (o:Note)-[f:FROM]->(x)
                   WITH o, min(coalesce(f.part, 0)) AS part
                   WITH part, coalesce(head([(o)<-[:SUMS]-(m:Note) WHERE o.status = 'archived' AND o.expires_at > $alive AND m.status = 'active' AND m.expires_at > $alive | m]), o) AS n
                   RETURN n {.id, .status, expired: n.expires_at <= $alive} ORDER BY part }}
       } AS known,
       COLLECT {
         UNWIND $sessions AS session
         CALL (session) {
           MATCH (x:Source {scope: $scope, session: session})
           WHERE x.seq >= 0 AND x.erase_at > datetime('0001-01-01T00:00:00Z') // else an erasure has begun with it
           RETURN x ORDER BY x.seq DESC LIMIT 1
         }
         WITH x, coalesce(size(x.cuts), 0) AS last
         RETURN x {readable: EXISTS { (x)<-[f:FROM]-()<-[:SUMS*0..1]-(n:Note) WHERE coalesce(f.part, 0) = last AND n.status IN $statuses AND n.expires_at > $alive },
           // use sources/passage source=x part=last place=last
           }
       } AS tails,
       COLLECT {
         UNWIND $keys AS key
         MATCH (k:Keyword {scope: $scope, key: key})
         RETURN {key: key, name: k.name}
       } AS keywords
