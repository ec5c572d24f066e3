// The properties that hold the vectors of vector indexes; behind it these name what they filter by.
// returns name
SHOW VECTOR INDEXES YIELD properties
RETURN DISTINCT head(properties) AS name
