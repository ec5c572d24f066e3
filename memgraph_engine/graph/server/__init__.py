"""The managed local Neo4j: a server process of its own, made from jars and a Java runtime out of a wheel."""

from memgraph_engine.graph.database import Address
from memgraph_engine.graph.server.backups import Backup, backup, restore
from memgraph_engine.graph.server.compaction import Compaction, compact
from memgraph_engine.graph.server.local import LocalServer, Status
from memgraph_engine.graph.server.remains import remains

__all__ = ["Address", "Backup", "Compaction", "LocalServer", "Status", "backup", "compact", "remains", "restore"]
