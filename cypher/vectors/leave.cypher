// Let the other set of vectors leave, if it is in a state; no row if it is not.
// $vectors: integer    number of the set
// $state: string    filling, or kept
// returns vectors
MATCH (o:Store {name: 'second'}) WHERE o.vectors = $vectors AND o.state = $state
SET o.state = 'leaving'
RETURN o.vectors AS vectors
