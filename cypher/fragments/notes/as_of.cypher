// Conditions of a look back: the version `n` was true at $as_of, and recorded at $known_at.
AND n.valid_from <= $as_of[0] AND n.valid_to > $as_of[1]
AND n.recorded_at <= $known_at[0] AND n.superseded_at > $known_at[1]
