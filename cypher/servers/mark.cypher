// Say what becomes of a tenant on a server; what is gone from there stays so where that is kept. No row where another has taken it up.
// $tenant: string    whose
// $mover: integer    who moves it
// $state: string    here or copying: it is read and written; coming: it is neither
// $keep: boolean    whether gone stays
// returns state: as it is now
MERGE (m:Presence {tenant: $tenant})
SET m.lock = true
WITH m WHERE coalesce(m.mover, 0) <= $mover
SET m.mover = $mover, m.state = CASE WHEN $keep AND m.state = 'gone' THEN 'gone' ELSE $state END
RETURN m.state AS state
