// Charge calls to a scope's budget of a day, under the scope's lock; what is charged then.
// $scope: string    the scope
// $day: date    in UTC
// $charged: map    {calls, tokens, money}: what is added; estimates where a cost is not known (yet)
// returns calls, tokens, money
MATCH (s:Scope {scope: $scope})
SET s.lock = true
MERGE (s)-[:SPENT]->(x:Spending {day: $day})
ON CREATE SET x.scope = $scope
SET x.charged_calls = coalesce(x.charged_calls, 0) + $charged.calls,
    x.charged_tokens = coalesce(x.charged_tokens, 0) + $charged.tokens,
    x.charged_money = coalesce(x.charged_money, 0.0) + $charged.money
RETURN x.charged_calls AS calls, x.charged_tokens AS tokens, x.charged_money AS money
