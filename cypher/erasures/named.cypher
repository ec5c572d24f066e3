// How many decisions still name one of some sources. Those made since the erasure began are of sources that came anew.
// $scope: string    the scope
// $ids: list<string>    the sources that are erased
// $begun: datetime    when the erasure began
// returns decisions
MATCH (d:Decision {scope: $scope}) WHERE d.id >= '' AND d.at <= $begun AND any(x IN d.sources WHERE x IN $ids)
RETURN count(d) AS decisions
