// Forget the other set of vectors, of which nothing is left.
// $vectors: integer    its number
MATCH (o:Store {name: 'second'}) WHERE o.vectors = $vectors AND o.state = 'leaving'
DELETE o
