// Lock what a server says of a tenant; no row where another has taken its move up.
// $tenant: string    whose
// $mover: integer    who moves it
// returns state
// use servers/mine
RETURN m.state AS state
