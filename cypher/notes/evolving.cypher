// What an evolution compares notes by, beside their words. None that is kept apart, or that can't be read.
// $scope: string    the scope
// $ids: list<string>    the notes
// $rare: integer    a keyword is rare that no more notes carry
// $alive: datetime    the present: what ends by then can't be read
// returns id, raw_vector, context_vector, rare (names of its rare keywords), topics [[id, label, how many of its own keywords]],
//   ties [{note, kind (link, change, conflict, supersedes or untied), newer and older (ids), score, strengthened: whether it was before}]
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id}) WHERE n.status = 'active' AND n.expires_at > $alive AND n.apart IS NULL AND n.raw_embedding IS NOT NULL
RETURN id, n.raw_embedding AS raw_vector, n.context_embedding AS context_vector,
       COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) WHERE COUNT { (k)<-[:HAS_KEYWORD]-() } <= $rare RETURN k.name ORDER BY k.name } AS rare,
       COLLECT {
         MATCH (n)-[:HAS_KEYWORD]->(:Keyword)-[:IN_TOPIC]->(t:Topic)
         WITH t, count(*) AS keywords
         RETURN [t.id, t.label, keywords] ORDER BY keywords DESC, t.id
       } AS topics,
       COLLECT {
         MATCH (n)-[r:RELATED|SUPERSEDES|UNTIED]-(o:Note)
         RETURN {note: o.id, kind: CASE type(r) WHEN 'RELATED' THEN r.kind ELSE toLower(type(r)) END, newer: startNode(r).id,
                 older: endNode(r).id, score: r.score, strengthened: r.strengthened_by IS NOT NULL}
         ORDER BY o.id
       } AS ties
