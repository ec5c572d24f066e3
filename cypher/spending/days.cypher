// What chat models cost a scope, day by day, newest first.
// $scope: string    the scope
// $since: date    the first day
// returns day, calls, input_tokens, output_tokens, money, unknown (calls of unknown price)
MATCH (:Scope {scope: $scope})-[:SPENT]->(x:Spending) WHERE x.day >= $since AND x.calls > 0
RETURN toString(x.day) AS day, x.calls AS calls, x.input_tokens AS input_tokens, x.output_tokens AS output_tokens,
       x.money AS money, x.unknown AS unknown
ORDER BY day DESC
