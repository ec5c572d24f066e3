// Let a tenant live where it was moved; no row for who does not move it any more.
// $tenant: string    whose
// $mover: integer    who moves it
// $moved: map    {nodes, sources, notes}: how many were
// returns state: the name of the server that it lives on
MATCH (t:Tenant {name: $tenant})
SET t.lock = true
WITH t WHERE t.mover = $mover
SET t.left = CASE WHEN t.to IS NULL THEN t.left ELSE t.server END, t.server = coalesce(t.to, t.server), t.to = null, t += $moved
RETURN t.server AS state
