// Remove nodes by their places in the store.
// $scope: string    their scope; '' for none
// $tenant: string    whose; '' for none
// $ids: list<string>    their places
UNWIND $ids AS id
MATCH (x) WHERE elementId(x) = id AND (x.scope = $scope OR x.tenant = $tenant)
DETACH DELETE x
