// Remove this set's vectors from the nodes of a scope, or what stands for them.
// $scope: string    the scope
CALL () {
  // use scopes/members
}
WITH x WHERE x.raw_embedding IS NOT NULL OR x.embedding IS NOT NULL OR x.resting IS NOT NULL
REMOVE x.raw_embedding, x.context_embedding, x.embedding, x.resting
