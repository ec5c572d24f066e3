// What chat models cost a scope, day by day, newest first.
// $scope: string    the scope
// $since: date    the first day
// returns day, calls, input_tokens, output_tokens, money, unknown (calls of unknown price), charged_calls, charged_tokens,
//   charged_money
MATCH (:Scope {scope: $scope})-[:SPENT]->(x:Spending) WHERE x.day >= $since
RETURN toString(x.day) AS day, x.calls AS calls, x.input_tokens AS input_tokens, x.output_tokens AS output_tokens,
       x.money AS money, x.unknown AS unknown, x.charged_calls AS charged_calls, x.charged_tokens AS charged_tokens,
       x.charged_money AS charged_money
ORDER BY day DESC
