// The scope's version, language, and how many runs over claims it has had that read anything; no row for no such scope.
// $scope: string    the scope
// returns version, language, cycle, schema that writers must know
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, s.language AS language, coalesce(s.claims_cycle, 0) AS cycle,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN coalesce(x.upgrading, x.schema) }) AS schema
