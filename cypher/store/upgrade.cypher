// Name the schema that is about to be made: writers that don't know it are refused from here on.
// $schema: integer    version of the schema
MATCH (s:Store {name: 'store'})
SET s.upgrading = $schema
