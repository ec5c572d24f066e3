// Keep something of a scope from being erased, until it is released.
// $scope: string    the scope
// $id: string    the hold's id
// $session: string    the session that is held, '' for all
// $source: string    the source that is held, '' for all
// $reason: string    why
// $now: datetime    since when
// returns id; no row if there is no such scope
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE s.version >= 0
MERGE (h:Hold {scope: $scope, id: $id})
SET h.session = $session, h.source = $source, h.reason = $reason, h.at = $now
RETURN h.id AS id
