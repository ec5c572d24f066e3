// Record the embedder's vector of one word, unless one is known.
// $probe: list of floats    the vector
// returns probe
MATCH (s:Store {name: 'store'})
SET s.probe = coalesce(s.probe, $probe)
RETURN s.probe AS probe
