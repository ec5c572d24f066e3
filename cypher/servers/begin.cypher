// Begin a move of a tenant, or take up one that was cut off; no row where it is moved elsewhere.
// $tenant: string    whose
// $to: string    name of the server that it is moved to
// $now: datetime    the present
// returns move: its id, mover: the number of who moves it from here on: nobody with a smaller one goes on
MATCH (t:Tenant {name: $tenant})
SET t.lock = true
WITH t WHERE coalesce(t.to, $to) = $to
SET t.mover = coalesce(t.mover, 0) + 1, t.begun = coalesce(t.begun, $now), t.to = CASE t.server WHEN $to THEN null ELSE $to END,
    t.move = coalesce(t.move, randomUUID())
RETURN t.move AS move, t.mover AS mover
