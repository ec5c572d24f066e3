// Pairs of keywords whose kept weight is not the number of active notes that carry both.
// $scope: string    the scope
// $statuses: list<string>    of notes that can be read
// returns a, b, kept, counted
MATCH (a:Keyword {scope: $scope}) WHERE a.name >= ''
CALL (a) {
  MATCH (a)<-[:HAS_KEYWORD]-(n:Note)-[:HAS_KEYWORD]->(b:Keyword)
  WHERE a.name < b.name AND n.status IN $statuses
  RETURN b, count(DISTINCT n) AS counted, 0 AS kept
  UNION ALL
  MATCH (a)-[r:CO_OCCUR]->(b:Keyword)
  RETURN b, 0 AS counted, r.weight AS kept
}
WITH a.name AS a, b.name AS b, sum(kept) AS kept, sum(counted) AS counted
WHERE kept <> counted
RETURN a, b, kept, counted ORDER BY a, b
