// Record what the cosines of the database's embedder mean.
// $calibration: string    JSON: the embedder's name, the weights of relevance, the map of relation
MATCH (s:Store {name: 'store'})
SET s.calibration = $calibration
