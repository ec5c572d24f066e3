"""The Neo4j servers that tests run on, and how a process's clients find and share one."""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import neo4j
import pytest

from memgraph_engine import Settings
from memgraph_engine.graph.server import config
from memgraph_engine.graph.server.local import LocalServer

PREFIX = "MEMGRAPH_ENGINE_"
_MEMORY, _ROOM = Path("/dev/shm"), 8 << 30
# A test's server is young: most of its time goes into compiling and planning. It compiles quickly rather than well, and
# keeps its plans: though the statistics go up and down with every tenant that comes and goes, and without making each
# anew with compiled expressions when it is used for the tenth time. Nor does it verify the bytecode of
# Neo4j's jars, whose digests are pinned: that is a sixth of what its start and its schema take.
os.environ.setdefault(
    "JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
config._CONF += "dbms.cypher.min_replan_interval=1h\ninternal.cypher.expression_engine=INTERPRETED\n"

SAID = [  # what tests on servers of their own let a user say
    "I moved to Lisbon in March.",
    "My sister Petra lives in Bolzano.",
    "The boat sails to Faro on Monday.",
    "I no longer live in Lisbon, I moved to Porto.",
    "Petra has two cats.",
    "Porto is a harbour town.",
]


@dataclass(frozen=True)
class Server:
    """Where a database answers."""

    uri: str
    user: str
    password: str


def managed(home: Path) -> LocalServer:
    """The managed server of a folder, whichever process starts it."""
    return LocalServer(Settings.load(home=home))


def in_memory() -> str | None:
    """Return a folder that no commit waits for a disk in, where there is one with room; None for the usual one."""
    room = shutil.disk_usage(_MEMORY).free if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else 0
    return str(_MEMORY) if room > _ROOM else None


@contextmanager
def own(folder: Path) -> Iterator[Server]:
    """A managed server for what would disturb other tests."""
    local = managed(folder / "home")
    address = local.start()
    try:
        with found(Server(address.uri, address.user, address.password)) as one:
            yield one
    finally:
        local.stop()


@contextmanager
def several(folder: Path, number: int) -> Iterator[list[Server]]:
    """Managed servers that take the same password; no client is told of them."""
    homes = [folder / str(one) for one in range(number)]
    for home in homes:
        home.mkdir(parents=True)
        (home / "password").write_text("several-servers")
    locals = [LocalServer(Settings.load(home=home, heap="400m", page_cache="64m")) for home in homes]
    try:
        with ThreadPoolExecutor() as pool:
            addresses = list(pool.map(lambda one: one.start(progress=False), locals))
        yield [Server(one.uri, one.user, one.password) for one in addresses]
    finally:
        for one in locals:
            one.stop(timeout=0)


@contextmanager
def found(one: Server) -> Iterator[Server]:
    """Let clients and subprocesses that are told nothing find the server; this process's clients share connections."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("uri", "user", "password"):
            patch.setenv(PREFIX + name.upper(), getattr(one, name))
        opened: dict[str, Shared] = {}
        driver = neo4j.GraphDatabase.driver

        def shared(uri: str, **options: Any) -> neo4j.Driver:
            if uri != one.uri:
                return driver(uri, **options)
            key = repr(sorted(options.items()))
            if key not in opened:
                opened[key] = Shared(driver(uri, **options))
            return cast("neo4j.Driver", opened[key])

        patch.setattr(neo4j.GraphDatabase, "driver", shared)
        try:
            yield one
        finally:
            for each in opened.values():
                each.driver.close()


@dataclass(frozen=True)
class Shared:
    """A driver that is closed by none of those who share it."""

    driver: neo4j.Driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass
