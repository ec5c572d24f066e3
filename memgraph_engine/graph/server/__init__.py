"""The managed local Neo4j: a server process of its own, made from jars and a Java runtime out of a wheel."""
