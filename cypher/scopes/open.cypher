// Make the scope unless it is there.
// $scope: string    the scope
// $tenant: string    whose it is
// $user: string    '' for a tenant's shared memory
// $language: string    of its texts; recorded once
// returns language, version
MERGE (s:Scope {scope: $scope})
ON CREATE SET s.tenant = $tenant, s.user = $user, s.language = $language, s.version = 0,
              s.notes = 0, s.raw_length = 0, s.context_length = 0, s.changed_since = 0, s.notes_since = 0
RETURN s.language AS language, s.version AS version
