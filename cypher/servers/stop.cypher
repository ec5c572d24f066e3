// Let nothing of a tenant be written for so long, by the server's clock, or for longer; no row where that time has run out.
// $tenant: string    whose
// $mover: integer    who moves it
// $milliseconds: integer    how long
// returns state
// use servers/mine
  AND (m.state = 'copying' OR m.state = 'stopped' AND m.until > timestamp())
SET m.state = 'stopped', m.until = timestamp() + $milliseconds
RETURN m.state AS state
