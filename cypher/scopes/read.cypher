// The scope's version, language and size, and the schema that writers must know; no row if there is no such scope.
// $scope: string    the scope
// returns version, language, notes, schema
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, s.language AS language, s.notes AS notes,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN coalesce(x.upgrading, x.schema) }) AS schema
