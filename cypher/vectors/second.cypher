// The other set of vectors of a database; no row where there is none.
// returns model, dimensions, named, vectors (its number), calibration, state (filling, kept or leaving), since, until [ms] or null, filled and total: texts
MATCH (o:Store {name: 'second'}) WHERE o.vectors IS NOT NULL
RETURN o.model AS model, o.dimensions AS dimensions, coalesce(o.named, '') AS named, o.vectors AS vectors,
       coalesce(o.calibration, '') AS calibration, o.state AS state, o.since AS since, o.until AS until, o.filled AS filled, o.total AS total
