// Fail unless a tenant is on this server: what stands before each statement of one (statements.guard).
// $here.tenant: string    whose
// $here.writes: boolean    whether the statement writes
// returns away: 0
// use servers/here
RETURN away
