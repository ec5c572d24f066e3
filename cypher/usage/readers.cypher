// How some readers have used notes. Of a note that none of them was ever shown there is no row.
// $scopes: list<string>    the readers' scopes
// returns id, usage {shown, used, utility, scored_at, last_shown, last_used} (times in ms)
MATCH (u:Usage) WHERE u.scope IN $scopes AND u.id >= ''
RETURN u.id AS id, u {.shown, .used, .utility, scored_at: u.scored_at.epochMillis, last_shown: u.last_shown.epochMillis,
                      last_used: u.last_used.epochMillis} AS usage
