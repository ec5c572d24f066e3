// What the database was made with; no row in a new one.
// returns model, dimensions, named: what settings call it, former: the name of the embedder before it, vectors: the number of
//   its set, schema, upgrading: the schema that is being made, or null; probe: the embedder's vector of one word, or null;
//   calibration: JSON, or null; id: its own as one of several servers, or null; catalogue: where that of the servers answers that this is one of, or null
MATCH (s:Store {name: 'store'})
RETURN s.model AS model, s.dimensions AS dimensions, s.schema AS schema, s.upgrading AS upgrading,
  s.probe AS probe, s.calibration AS calibration, s.catalogue AS catalogue, s.id AS id,
  coalesce(s.named, '') AS named, coalesce(s.former, '') AS former, coalesce(s.vectors, 1) AS vectors
