// Let a node <node> lose the vectors of every set but the one that is searched: they are of former words, and are made anew
// (docs/setup.md, Another embedder).
FOREACH (name IN [name IN keys(<node>) WHERE name CONTAINS 'bedding' AND NOT name IN ['raw_embedding', 'context_embedding', 'embedding']]
  | REMOVE <node>[name])
