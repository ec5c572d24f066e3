// Record what the database is made with, unless that is known; and the version of its schema, which is whole now.
// $model: string    the embedder's name
// $dimensions: integer    length of its vectors
// $vectors: integer    the number of its set of vectors, in a new one
// $schema: integer    version of the schema
// returns model, dimensions, probe, calibration
MERGE (s:Store {name: 'store'})
ON CREATE SET s.model = $model, s.dimensions = $dimensions, s.vectors = $vectors, s.last = $vectors
SET s.schema = $schema, s.upgrading = null
RETURN s.model AS model, s.dimensions AS dimensions, s.probe AS probe, s.calibration AS calibration
