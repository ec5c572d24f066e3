"""A real Neo4j for the run; a random tenant for each test, removed afterwards where the database stays."""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from inspect import unwrap
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Thread
from typing import Any, NoReturn, cast
from uuid import uuid4

import hypothesis
import neo4j
import pytest
import typer.main
import typer.testing

from memgraph_engine import Memory, Settings
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.engine.wiring import Engine, Load
from memgraph_engine.graph.database import Address, Database
from memgraph_engine.graph.note_cache import NoteCache
from memgraph_engine.llm.roles import Roles
from memgraph_engine.model.ports import Embedder, utc_now
from memgraph_engine.testing import HashingEmbedder, purge
from tests import containers, servers, vectors
from tests.clocks import Clock
from tests.servers import PREFIX, Server

HOME = f"{PREFIX}TEST_HOME"
STARTING = pytest.StashKey[Thread]()
# the name under which other processes of the run find it: the variable itself would be a setting of what is tested
LOCOMO = os.environ.setdefault(f"{PREFIX}TEST_LOCOMO", os.environ.get(f"{PREFIX}LOCOMO", ""))
# MiniLM: half the work of the default model. All other settings are the defaults, whatever the developer has set.
for name in [n for n in os.environ if n.startswith(PREFIX) and n not in (f"{PREFIX}MAVEN_URL", f"{PREFIX}CACHE")]:
    if not name.startswith(f"{PREFIX}TEST_"):
        del os.environ[name]
os.environ[f"{PREFIX}EMBEDDER"] = "minilm"
hypothesis.settings.register_profile("engine", deadline=None)  # how long an example takes is no behaviour
hypothesis.settings.load_profile("engine")
# the runner of commands would make all sixty of them anew, with their options, for each that is run
typer.testing._get_command = cache(typer.main.get_command)


def pytest_configure(config: pytest.Config) -> None:
    """Name the folder of the run's server, which the first process that needs it starts, and all others share."""
    if not hasattr(config, "workerinput"):
        os.environ[HOME] = str(Path(mkdtemp(prefix="memgraph-engine-", dir=servers.in_memory())) / "home")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Start the run's server while its processes collect their tests and run those that need none."""
    given = f"{PREFIX}TEST_URI" in os.environ or f"{PREFIX}TEST_CONTAINERS" in os.environ
    chosen = config.getoption("markexpr")
    if not given and "not slow" in chosen and "not integration" not in chosen:
        start = partial(_start, Path(os.environ[HOME]), config.rootpath)
        config.stash[STARTING] = Thread(target=start, daemon=True)
        config.stash[STARTING].start()


def _start(home: Path, root: Path) -> None:
    """Start the run's server, and make its schema."""
    servers.managed(home).start(progress=False)
    with closing(_embedder(root)) as embedder, Memory.connect(settings=Settings.load(home=home), embedder=embedder):
        pass


def _embedder(root: Path) -> vectors.Remembering:
    return vectors.make(root / ".pytest_cache" / "vectors")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the run's server, when all of its processes are done."""
    if not hasattr(config, "workerinput"):
        if STARTING in config.stash:
            config.stash[STARTING].join()
        home = Path(os.environ.pop(HOME))
        servers.managed(home).stop(timeout=0)  # nothing of it is kept
        rmtree(home.parent)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server of MEMGRAPH_ENGINE_TEST_URI (_TEST_USER, _TEST_PASSWORD), else a managed one of this run's own."""
    given = os.environ.get(f"{PREFIX}TEST_URI")
    if given:
        one = Server(given, os.environ.get(f"{PREFIX}TEST_USER", "neo4j"), os.environ.get(f"{PREFIX}TEST_PASSWORD", ""))
    elif os.environ.get(f"{PREFIX}TEST_CONTAINERS"):
        yield from _container()
        return
    else:
        address = servers.managed(Path(os.environ[HOME])).start()
        one = Server(address.uri, address.user, address.password)
    with servers.found(one):
        yield one


def _container() -> Iterator[Server]:
    """A container's server; without Docker a skip, or a failure where TEST_CONTAINERS is `require`."""
    why = containers.why_none()
    if why and os.environ[f"{PREFIX}TEST_CONTAINERS"] == "require":
        pytest.fail(why)
    if why:
        pytest.skip(why)
    with containers.neo4j() as uri, servers.found(Server(uri, "neo4j", containers.PASSWORD)) as one:
        yield one


def pytest_collection_finish() -> None:
    """What was collected stays to the end: look no more whether it is still needed."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark what runs on the database, so that it can be run on another one; what starts a server of its own is slow.

    Of those that are run, each process begins with files that need no server, while the run's own starts. The files of
    slow ones and of others that need it go on in this order: of two processes, neither is left with a long one when the
    other has nothing more to do.
    """
    slow = dict[Path, int]()
    for item in items:
        if _takes_server(item):
            item.add_marker("integration")
            slow.setdefault(item.path, 1)
        elif "started" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")
            slow[item.path] = 2
    yield
    needy = sorted((item for item in items if item.path in slow), key=lambda item: -slow[item.path])
    shares = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    parts = [item for item in items if item.path not in slow], needy
    items[:] = [
        item
        for share in range(shares)
        for part in parts
        for item in part[len(part) * share // shares : len(part) * (share + 1) // shares]
    ]


def _takes_server(item: pytest.Item) -> bool:
    """Whether a test takes the fixture `server` of this file, and not another one of its name."""
    info = getattr(item, "_fixtureinfo", None)
    for one in reversed(info.name2fixturedefs.get("server", ()) if info else ()):
        if unwrap(one.func) is unwrap(server):
            return True
        if "server" not in one.argnames:  # it stands in for the one that it would take
            return False
    return False


@pytest.fixture(scope="session")
def embedder(pytestconfig: pytest.Config) -> Iterator[Embedder]:
    """The model, which a process loads for texts that no run of this checkout has had yet."""
    with closing(_embedder(pytestconfig.rootpath)) as one:
        yield one


@contextmanager
def _tenant() -> Iterator[str]:
    name = f"test-{uuid4().hex}"
    yield name
    if os.environ.get(f"{PREFIX}TEST_URI"):  # else all of the database goes at the end
        purge(name)


@pytest.fixture
def tenant(server: Server) -> Iterator[str]:
    """A tenant of this test alone."""
    with _tenant() as name:
        yield name


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still; a test that takes it gives it to its memory."""
    return Clock()


@cache
def _engine(_: Server, embedder: Embedder, *surroundings: object) -> Engine:
    """Connect once in such surroundings: the settings are read, the server is looked at, and its schema is made."""
    with Memory.connect(embedder=embedder) as one:
        return one.engine


@contextmanager
def _memory(tenant: str, server: Server, embedder: Embedder) -> Iterator[Memory]:
    """A memory as if it had just connected, without the time that takes."""
    read = [item for item in os.environ.items() if item[0].startswith(PREFIX)]
    engine = _engine(server, embedder, Path.cwd(), *sorted(read))
    given = engine.settings.model_copy(update={"tenant": tenant})
    db = Database(
        Address(server.uri, server.user, server.password),
        database=given.database,
        connect_timeout=given.connect_timeout,
        retry_time=given.retry_time,
    )
    notes, load = NoteCache(given.recall.cache_mb << 20), Load(given.recall.busy)
    with Memory(replace(engine, settings=given, db=db, roles=Roles(given.llm), notes=notes, load=load)) as one:
        yield one


@pytest.fixture
def memory(tenant: str, server: Server, embedder: Embedder) -> Iterator[Memory]:
    """A memory of this test alone."""
    with _memory(tenant, server, embedder) as one:
        yield one


def _changed(*_: object, **__: object) -> NoReturn:
    raise AssertionError("this memory is read by other tests too: one that changes it needs a memory of its own")


@pytest.fixture(scope="module")
def kept(server: Server, embedder: Embedder) -> Iterator[Callable[..., Memory]]:
    """Make a memory that a function fills, and that nothing can change from then on: the tests of a file share it.

    What is given besides it is connected with.
    """
    with ExitStack() as stack:

        def keep(fill: Callable[[Memory], object], **given: Any) -> Memory:
            tenant = stack.enter_context(_tenant())
            connected = Memory.connect(tenant=tenant, embedder=embedder, **given) if given else None
            one = stack.enter_context(connected or _memory(tenant, server, embedder))
            fill(one)
            vars(one.engine.db).update(commit=_changed, write=_changed)
            return one

        yield keep


class Untouched:
    """A database of which nothing may be asked."""

    def __getattr__(self, name: str) -> object:
        if name == "close":
            return lambda: None
        raise AssertionError(f"the database was asked: {name}")


@pytest.fixture
def untouched() -> Iterator[Memory]:
    """A memory that must decide without its database, as where it refuses what it is given; no server is needed."""
    given = Settings.load(tenant="untouched")
    parts = CheckedEmbedder(HashingEmbedder()), utc_now, Roles(given.llm), NoteCache(0)
    with Memory(Engine(given, cast("Database", Untouched()), *parts)) as one:
        yield one


@pytest.fixture
def stored(server: Server, tmp_path: Path) -> Iterator[Callable[[], list[str]]]:
    """Name the scopes that this test's evaluations have in the database: other tests have some at the same time.

    A run's are named by its id, which its results in the test's folder tell, and an export's by its file.
    """
    export = blake2b(str(tmp_path.resolve() / "examples.jsonl").encode(), digest_size=8).hexdigest()

    def own(scope: str) -> bool:
        run = scope.removeprefix("eval-").partition("/")[0].partition("-")[0]
        return run == export or any(run in file.read_text("utf-8") for file in tmp_path.rglob("results.jsonl"))

    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:

        def names() -> list[str]:
            found = driver.execute_query("MATCH (s:Scope) WHERE s.tenant STARTS WITH 'eval-' RETURN s.scope AS scope")
            return [name for record in found.records if own(name := record["scope"])]

        yield names


@pytest.fixture
def root() -> Path:
    """The project's folder."""
    return Path(__file__).parent.parent
