"""A real Neo4j for each process of the run; a random tenant for each test, really removed afterwards."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast
from uuid import uuid4

import neo4j
import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.model.ports import Embedder
from memgraph_engine.testing import purge
from tests import containers, vectors

PREFIX = "MEMGRAPH_ENGINE_"
# the name under which other processes of the run find it: the variable itself would be a setting of what is tested
LOCOMO = os.environ.setdefault(f"{PREFIX}TEST_LOCOMO", os.environ.get(f"{PREFIX}LOCOMO", ""))
# MiniLM: half the work of the default model. All other settings are the defaults, whatever the developer has set.
for name in [n for n in os.environ if n.startswith(PREFIX) and n not in (f"{PREFIX}MAVEN_URL", f"{PREFIX}CACHE")]:
    if not name.startswith(f"{PREFIX}TEST_"):
        del os.environ[name]
os.environ[f"{PREFIX}EMBEDDER"] = "minilm"


@dataclass(frozen=True)
class Server:
    """Where the tests' database answers."""

    uri: str
    user: str
    password: str


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of MEMGRAPH_ENGINE_TEST_URI (_TEST_USER, _TEST_PASSWORD), else a managed one of this run's own."""
    given = os.environ.get(f"{PREFIX}TEST_URI")
    if given:
        one = Server(given, os.environ.get(f"{PREFIX}TEST_USER", "neo4j"), os.environ.get(f"{PREFIX}TEST_PASSWORD", ""))
        yield from _in_environment(one)
        return
    if os.environ.get(f"{PREFIX}TEST_CONTAINERS"):
        yield from _container()
        return
    from memgraph_engine.graph.server import LocalServer

    local = LocalServer(Settings.load(home=tmp_path_factory.mktemp("neo4j") / "home"))
    address = local.start()
    try:
        yield from _in_environment(Server(address.uri, address.user, address.password))
    finally:
        local.stop()


def _container() -> Iterator[Server]:
    """A container's server; without Docker a skip, or a failure where TEST_CONTAINERS is `require`."""
    why = containers.why_none()
    if why and os.environ[f"{PREFIX}TEST_CONTAINERS"] == "require":
        pytest.fail(why)
    if why:
        pytest.skip(why)
    with containers.neo4j() as uri:
        yield from _in_environment(Server(uri, "neo4j", containers.PASSWORD))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs on the database, so that it can be run on another one, and what starts a server of its own."""
    for item in items:
        if "server" in getattr(item, "fixturenames", ()):
            item.add_marker("integration")
        elif "started" in getattr(item, "fixturenames", ()):
            item.add_marker("boots")


def _in_environment(one: Server) -> Iterator[Server]:
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
        yield one
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


@pytest.fixture(scope="session")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    """The model, loaded once in a process, which embeds each text once in a run."""
    own = tmp_path_factory.getbasetemp()
    one = vectors.make(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)
    yield one
    one.close()


@pytest.fixture
def tenant(server: Server) -> Iterator[str]:
    """A tenant of this test alone."""
    name = f"test-{uuid4().hex}"
    yield name
    purge(name)


@pytest.fixture
def memory(tenant: str, embedder: Embedder) -> Iterator[Memory]:
    """A memory of this test alone."""
    with Memory.connect(tenant=tenant, embedder=embedder) as one:
        yield one


@pytest.fixture
def root() -> Path:
    """The project's folder."""
    return Path(__file__).parent.parent
