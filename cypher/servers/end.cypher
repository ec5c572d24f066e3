// End a move; no row for who does not move the tenant any more.
// $tenant: string    whose
// $mover: integer    who moves it
// returns state: the name of the server that it lives on
MATCH (t:Tenant {name: $tenant})
SET t.lock = true
WITH t WHERE t.mover = $mover
SET t.to = null, t.left = null, t.move = null, t.begun = null
RETURN t.server AS state
