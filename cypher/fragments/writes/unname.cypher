// Let topics, and the moves of their runs, name no keyword that only what is kept apart from now on had.
// $write.unname: list<string>    keywords that notes lost, where some of what is written is kept apart
CALL () {
  UNWIND $write.unname AS name
  WITH name WHERE NOT EXISTS { MATCH (:Keyword {scope: $scope, name: name})<-[:HAS_KEYWORD]-(n:Note) WHERE n.status IN $statuses }
  WITH collect(name) AS lost
  WHERE size(lost) > 0
  CALL (lost) {
    MATCH (t:Topic {scope: $scope}) WHERE t.id >= '' AND any(name IN t.keywords + coalesce(t.labelled_from, []) WHERE name IN lost)
    SET t.keywords = [name IN t.keywords WHERE NOT name IN lost], t.labelled_from = [], t.labelled_by = ''
    SET t.label = reduce(told = '', name IN t.keywords[..3] | told + CASE told WHEN '' THEN '' ELSE ', ' END + name)
  }
  CALL (lost) {
    MATCH (r:Run {scope: $scope}) WHERE r.id >= '' AND any(name IN lost WHERE r.moves CONTAINS name)
    SET r.moves = '[]'
  }
}
