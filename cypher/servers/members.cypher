// All nodes of a scope, or what is a tenant's beside its scopes.
// $scope: string    the scope; '' for none
// $tenant: string    whose; '' for none
// $whole: boolean    whether vectors are told that a stamp stands for
// returns id: its place in the store, labels, properties
// use servers/members
RETURN elementId(x) AS id, labels(x) AS labels,
       CASE WHEN $whole OR x.stamp IS NULL THEN properties(x) ELSE x {.*, raw_embedding: null, context_embedding: null} END AS properties
