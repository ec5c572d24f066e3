// Give a scope all properties that it has from now on; what was said of sharing claims before it held anything stays.
// $scope: string    the scope
// $properties: map    without its name
MATCH (s:Scope {scope: $scope})
WITH s, s.shares_claims AS shares, s.withholds_claims AS withholds
SET s = $properties, s.scope = $scope, s.shares_claims = shares, s.withholds_claims = coalesce(withholds, $properties.withholds_claims)
