// How often notes were shown, by all of some readers together. A note that never was has no row.
// $scopes: list<string>    the readers' scopes
// returns id, shown
MATCH (u:Usage) WHERE u.scope IN $scopes AND u.id >= ''
RETURN u.id AS id, sum(u.shown) AS shown
