// Claims that enough users of a tenant make now, each by himself, where the tenant shares claims: in the words that most of them
// use, and of how many users. Nothing is told of who they are, nor of a claim that fewer make. A user counts if he takes part, and
// a note says so that can be read, or is in the archive, as it was read for claims, by its own words.
// $shared: string    the tenant's shared memory
// $users: integer    how many users are enough
// $ids: list<string>    of some claims, null for all
// $keys: list<string>    keys of the words that a question names
// $named: boolean    whether only claims are wanted of which an end has one of the keys
// $vector: vector    the question's, or null
// $after: string    id of the last claim seen
// $limit: integer    claims on a page
// $alive: datetime    the present: what ends by then can't be read
// returns claim {id, kind, text, subject, object}, users, named: whether an end of it is, score: the cosine or null
MATCH (t:Scope {scope: $shared}) WHERE t.shares_claims
CALL () {
  UNWIND CASE WHEN $ids IS NULL AND NOT $named THEN [true] ELSE [] END AS every
  MATCH (c:Claim {shared_in: $shared}) WHERE c.shared_as > $after
  RETURN c
  UNION
  UNWIND $ids AS id
  MATCH (c:Claim {shared_in: $shared, shared_as: id})
  RETURN c
  UNION
  UNWIND CASE WHEN $named THEN $keys ELSE [] END AS key
  MATCH (c:Claim {shared_in: $shared, subject_key: key})
  RETURN c
  UNION
  UNWIND CASE WHEN $named THEN $keys ELSE [] END AS key
  MATCH (c:Claim {shared_in: $shared, object_key: key})
  RETURN c
}
WITH c.shared_as AS id, c WHERE id > $after
WITH id, collect(c) AS made WHERE size(made) >= $users
CALL (id, made) {
  UNWIND made AS c
  MATCH (s:Scope {scope: c.scope})
  WHERE s.withholds_claims IS NULL AND EXISTS {
    MATCH (c)<-[r:SUPPORTS {shared_as: id}]-(n:Note {scope: c.scope})
    WHERE n.status IN ['active', 'archived'] AND n.expires_at > $alive AND n.apart IS NULL AND n.stamp = r.stamp
  }
  WITH s, head(collect(c)) AS c
  WITH c.text AS text, collect(c) AS same ORDER BY size(same) DESC, text
  RETURN sum(size(same)) AS users, head(collect(head(same))) AS c
}
WITH id, c, users WHERE users >= $users
ORDER BY id LIMIT $limit
RETURN c {.kind, .text, .subject, .object, id: id} AS claim, users, c.subject_key IN $keys OR c.object_key IN $keys AS named,
       CASE WHEN $vector IS NULL THEN null ELSE 2 * vector.similarity.cosine(c.embedding, $vector) - 1 END AS score
