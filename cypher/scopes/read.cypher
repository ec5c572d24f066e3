// The scope's version, language and size, and the store [schema that writers must know, set of vectors, catalogue]; no row if there is no such scope.
// $scope: string    the scope
// returns version, language, notes, terms (of words and contexts), cap (its own) or null, decisions_since [ms] (older ones may have been pruned) or null, store [schema, set of vectors, catalogue]
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, s.language AS language, s.notes AS notes, s.raw_length + s.context_length AS terms, s.cap AS cap, s.decisions_since.epochMillis AS decisions_since,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN [coalesce(x.upgrading, x.schema), coalesce(x.vectors, 1), x.catalogue] }) AS store
