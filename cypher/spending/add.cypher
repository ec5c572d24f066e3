// Add what chat models cost to a scope's account of a day.
// $scope: string    the scope
// $day: date    in UTC
// $calls: integer    requests
// $input_tokens: integer    read
// $output_tokens: integer    written
// $money: float or null    US dollars; null where a price is not known
MATCH (s:Scope {scope: $scope})
SET s.lock = true
MERGE (s)-[:SPENT]->(x:Spending {day: $day})
ON CREATE SET x.scope = $scope
SET x.calls = coalesce(x.calls, 0) + $calls,
    x.input_tokens = coalesce(x.input_tokens, 0) + $input_tokens,
    x.output_tokens = coalesce(x.output_tokens, 0) + $output_tokens,
    x.money = coalesce(x.money, 0.0) + coalesce($money, 0.0),
    x.unknown = coalesce(x.unknown, 0) + CASE WHEN $money IS NULL THEN $calls ELSE 0 END
