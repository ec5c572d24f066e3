// Add what chat models cost to a scope's account of a day.
// $scope: string    the scope
// $day: date    in UTC
// $calls: integer    requests
// $input_tokens: integer    read
// $output_tokens: integer    written
// $money: float or null    US dollars; null where a price is not known
// $charged: map    {calls, tokens, money}: what counts against a budget, estimates where a cost is not known
MATCH (s:Scope {scope: $scope})
SET s.lock = true
MERGE (s)-[:SPENT]->(x:Spending {day: $day})
ON CREATE SET x.scope = $scope, x.calls = 0, x.input_tokens = 0, x.output_tokens = 0, x.money = 0.0, x.unknown = 0,
              x.charged_calls = 0, x.charged_tokens = 0, x.charged_money = 0.0
SET x.calls = x.calls + $calls,
    x.input_tokens = x.input_tokens + $input_tokens,
    x.output_tokens = x.output_tokens + $output_tokens,
    x.money = x.money + coalesce($money, 0.0),
    x.unknown = x.unknown + CASE WHEN $money IS NULL THEN $calls ELSE 0 END,
    x.charged_calls = x.charged_calls + $charged.calls,
    x.charged_tokens = x.charged_tokens + $charged.tokens,
    x.charged_money = x.charged_money + coalesce($charged.money, 0.0)
