// Record the embedder's vector of one word, unless that is known or none is given; and what the database was made with.
// $probe: list of floats    the vector, or null
// returns model, dimensions, probe, calibration: JSON, or null
MATCH (s:Store {name: 'store'})
SET s.probe = coalesce(s.probe, $probe)
RETURN s.model AS model, s.dimensions AS dimensions, s.probe AS probe, s.calibration AS calibration
