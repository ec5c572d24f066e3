"""Compaction of the managed server's store: its new files hold nothing but what the graph holds.

Neo4j deletes logically: the bytes of what is gone stay in its files until others are written over them (operations
manual, "Space reuse"), and no checkpoint takes them away.
"""

import mmap
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memgraph_engine.graph.copying import copy
from memgraph_engine.graph.database import Address, Database
from memgraph_engine.graph.server.home import Home
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.model.ports import Counted
from memgraph_engine.settings import Settings

_RUN = 5  # words


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


def remains(home: Path, words: str) -> dict[Path, int]:
    """Return how many runs of five words the files of a server hold, of a shorter line the whole; the most first.

    They are looked for as they are written. A store's file holds long texts in pieces, so not each run is found.
    """
    runs = {run.encode() for line in words.splitlines() for run in _runs(line)}
    held = Counter({path: sum(text.find(run) >= 0 for run in runs) for path, text in _files(Home(home).data)})
    return {path: some for path, some in held.most_common() if some}


def _runs(line: str) -> Iterator[str]:
    """Return each run of five words of a line, or all its words if these are fewer.

    >>> list(_runs("The code of the gate is 4711."))
    ['The code of the gate', 'code of the gate is', 'of the gate is 4711']
    """
    words = list(re.finditer(r"\w+", line))
    for first in range(max(len(words) - _RUN, 0) + 1 if words else 0):
        yield line[words[first].start() : words[min(first + _RUN, len(words)) - 1].end()]


def _files(folder: Path) -> Iterator[tuple[Path, "mmap.mmap"]]:
    for path in sorted(folder.rglob("*")):
        try:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                yield path, text
        except (OSError, ValueError):  # no file, gone meanwhile, or empty
            continue
