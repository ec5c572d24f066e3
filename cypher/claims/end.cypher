// Note that a run over claims is done.
// $scope: string    the scope
// $version: integer    as it was when the run began
// $cycle: integer    number of the last run that read anything
// $begun: datetime    when it began
MATCH (s:Scope {scope: $scope})
SET s.lock = true
SET s.claims_version = $version, s.claims_cycle = $cycle, s.claims_at = $begun
