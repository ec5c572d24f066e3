// So many more texts have vectors of a set that is being filled.
// $texts: integer    how many
MATCH (o:Store {name: 'second'})
SET o.filled = o.filled + $texts
