// The sessions of a scope, the latest first; those without a time last.
// $scope: string    the scope
// returns id, sources, began, ended [ms] or null
MATCH (x:Source {scope: $scope}) WHERE x.session > '' AND x.seq >= 0
WITH x.session AS id, count(*) AS sources, min(x.said_at) AS began, max(x.said_at) AS ended
RETURN id, sources, began.epochMillis AS began, ended.epochMillis AS ended
ORDER BY ended IS NULL, ended DESC, id
