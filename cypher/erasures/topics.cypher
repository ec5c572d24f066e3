// Let topics name no keyword that only erased notes carry; return those that did. Such a topic is called by what it has left.
// $scope: string    the scope
// returns id
MATCH (t:Topic {scope: $scope}) WHERE t.id >= ''
WITH t, datetime('0001-01-01T00:00:00Z') AS hidden
WITH t, [name IN t.keywords + coalesce(t.labelled_from, []) WHERE NOT EXISTS {
  MATCH (:Keyword {scope: $scope, name: name})<-[:HAS_KEYWORD]-(n:Note) WHERE n.erase_at > hidden OR n.kept_expires IS NOT NULL
}] AS lost
WHERE size(lost) > 0
SET t.keywords = [name IN t.keywords WHERE NOT name IN lost], t.labelled_from = [], t.labelled_by = ''
SET t.label = reduce(told = '', name IN t.keywords[..3] | told + CASE told WHEN '' THEN '' ELSE ', ' END + name)
RETURN t.id AS id ORDER BY id
