// What is held of a scope, the oldest first.
// $scope: string    the scope
// returns id, session, source, reason, at [ms]
MATCH (h:Hold {scope: $scope}) WHERE h.id >= ''
RETURN h.id AS id, h.session AS session, h.source AS source, h.reason AS reason, h.at.epochMillis AS at
ORDER BY h.at, id
