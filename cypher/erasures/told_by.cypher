// Which sources some names mean: those of a note that has the name, as it is or was last, or the source that has it.
// $scope: string    the scope
// $names: list<string>    ids of notes or sources
// $alive: datetime    the present: what is to be erased by then is gone
// returns name, of_note [ids of sources], is_source
UNWIND $names AS name
RETURN name,
       COLLECT {
         MATCH (n:Note|Past {scope: $scope, id: name}) WHERE n.erase_at > $alive
         WITH n ORDER BY n:Note DESC, n.recorded_at DESC LIMIT 1
         MATCH (n)-[:SUMS*0..1]->()-[:FROM]->(x:Source|PastSource)
         WITH DISTINCT x ORDER BY x.said_at, x.session, x.seq, x.id
         RETURN x.id
       } AS of_note,
       EXISTS { MATCH (:Source|PastSource {scope: $scope, id: name}) } AS is_source
