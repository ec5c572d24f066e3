// Lock what a server says of a tenant; no row where another has taken its move up, or it is in use there.
// $tenant: string    whose
// $mover: integer    who moves it
// returns state
// use servers/mine
  AND m.state IN ['coming', 'gone']
RETURN m.state AS state
