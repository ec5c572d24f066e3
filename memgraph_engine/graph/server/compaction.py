"""Compaction of the managed server's store: its new files hold nothing but what the graph holds.

Neo4j deletes logically: the bytes of what is gone stay in its files until others are written over them (operations
manual, "Space reuse"), and no checkpoint takes them away.
"""

from dataclasses import dataclass

from memgraph_engine.graph.copying import copy
from memgraph_engine.graph.database import Address, Database
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.model.ports import Counted
from memgraph_engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was copied, and the size of the store's files before and after."""

    nodes: int
    relationships: int
    bytes_before: int
    bytes_after: int


def compact(settings: Settings, counted: Counted = lambda *_: None) -> Compaction:
    """Copy all that the managed server's database holds into a new store, which takes the old one's place.

    `counted` is told how many nodes and relationships of how many are written. Indexes and constraints are those of
    this package: others have to be made again. `LocalServer.compact` says what others see meanwhile.
    """
    server = LocalServer(settings)
    before = server.status().data_bytes

    def copied(old: Address, new: Address) -> tuple[int, int]:
        with _client(settings, old) as source, _client(settings, new) as target:
            return copy(source, target, counted)

    nodes, relationships = server.compact(copied)
    return Compaction(nodes, relationships, before, server.status().data_bytes)


def _client(settings: Settings, at: Address) -> Database:
    return Database(
        at, database=settings.database, connect_timeout=settings.connect_timeout, retry_time=settings.retry_time
    )
