"""Neo4j: the connection, the statements of `cypher/`, one module for each noun, the managed local server."""
