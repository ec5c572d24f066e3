"""The one connection to Neo4j: transactions, retries, and the translation of the driver's errors."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from random import uniform
from threading import Event, Lock
from typing import Any, Protocol, Self, TypeVar

import neo4j
from neo4j import exceptions as driver_errors

from memgraph_engine.errors import (
    AuthenticationFailed,
    Closed,
    MemgraphEngineError,
    QueryFailed,
    ServerTooOld,
    StoreError,
    StoreMismatch,
    Unreachable,
    WriteConflict,
)
from memgraph_engine.forks import begun, leave
from memgraph_engine.graph.statements import BrokenStatement, guard, statements
from memgraph_engine.model.memory import UNKNOWN_PAST
from memgraph_engine.model.ports import Clock, utc_now
from memgraph_engine.settings import Settings
from memgraph_engine.telemetry import statement

OLDEST_SERVER = (2026, 8)
# what the driver says while it tries again goes to those who configure logging, and to nobody else
logging.getLogger("neo4j").addHandler(logging.NullHandler())
SKEW = timedelta(minutes=5)
"""By how much the clocks of a client and its server may differ."""
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 1.0  # seconds between two tries

# what a server says that could not write to its disk: at first, and from then on, also when there is space again
_CRITICAL = ("No space left on device", "has encountered a critical error")

_FAILURES = driver_errors.Neo4jError, driver_errors.DriverError
_GONE = driver_errors.ServiceUnavailable, driver_errors.RoutingServiceUnavailable  # not a cluster without a leader
_NO_INDEX = "Neo.ClientError.Schema.IndexNotFound"  # an upgrade of the schema makes it anew
_AWAY = '"away '  # how what fails a statement begins (cypher/fragments/servers/here.cypher)

_CLOSED = "This Memory was closed: connect again, or close it (or leave its `with`) after the last call."

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Address:
    """Where the server answers, and with what credentials."""

    uri: str
    user: str
    password: str = field(repr=False)

    @classmethod
    def of(cls, settings: Settings, uri: str | None = None) -> Self | None:
        """Return that of the settings, or another one with their credentials; None for the managed server."""
        uri = settings.uri if uri is None else uri
        return cls(uri, settings.user, settings.password.get_secret_value()) if uri else None


class Moved(StoreMismatch):
    """The database searches another set of vectors than this client's statements name: its embedder was changed.

    What keeps an engine takes the other embedder then, and does it again (`wiring.following`).
    """


class Runner(Protocol):
    """Runs named statements: the database itself for one read, or a transaction."""

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run the statement `cypher/{name}.cypher` and return its rows."""


def paged(
    runner: Runner, name: str, size: int, behind: Callable[[Row], Row] = lambda row: {"after": row["id"]}, **given: Any
) -> Iterator[list[Row]]:
    """Yield the pages of a statement, each `behind` the last row of the one before, up to one that is not full."""
    full = True
    while full:
        rows = runner.run(name, limit=size, **given)
        full = len(rows) == size
        if rows:
            given |= behind(rows[-1])
            yield rows


class _Transaction:
    def __init__(self, transaction: neo4j.Transaction, db: "Database", access: str) -> None:
        self._transaction, self._db, self._access = transaction, db, access

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        text, given = _prepared(name, parameters, self._db, self._access)
        with statement(name, self._db.name):
            return [dict(record) for record in self._transaction.run(text, given)]


_PRESENT = ("alive", "present")
"""Parameters that are the present unless they are given: no reader of notes can forget that notes end."""


def _prepared(name: str, parameters: Row, db: "Database", access: str) -> tuple[str, Row]:
    """Return what the server gets of a statement; where there are several, with a look whether the tenant is there."""
    statement = statements(db.vectors)[name]
    lacking = statement.parameters - parameters.keys()
    if lacking:
        parameters = {**parameters, **{one: db.alive() for one in _PRESENT if one in lacking}}
    if statement.parameters != parameters.keys():
        raise BrokenStatement(
            f"{name}: called with the wrong parameters {sorted(statement.parameters ^ parameters.keys())}"
        )
    if not db.home:
        return statement.call(parameters)
    return statement.call({**parameters, "here": db._metadata(access)}, guard())


class _Tries:
    """The tries of one call, as long as it is of use to make another one."""

    def __init__(self, db: "Database") -> None:
        self._db, self._began = db, time.monotonic()
        self._failed: float | None = None
        self.over = False

    def again(self, error: driver_errors.Neo4jError | driver_errors.DriverError) -> bool:
        """Wait, and tell whether to try again after an error.

        Part of the wait is random, so that those who hindered each other do not come back together.
        """
        lacks_index = getattr(error, "code", None) == _NO_INDEX
        away = self._db.home is not None and _AWAY in str(getattr(error, "message", ""))
        if self.over or not (error.is_retryable() or lacks_index or away):
            return False
        if lacks_index:
            self._db.check_vectors()
        now = time.monotonic()
        self._failed = self._failed or now
        ends = self._failed + self._db.retry_time
        if away or type(error) in _GONE:
            self._db.follow()
        if type(error) in _GONE:
            ends = min(ends, self._began + self._db.connect_timeout)
        wait = min(max(_FIRST_WAIT, 2 * (now - self._failed)), _LONGEST_WAIT) * uniform(0.8, 1.2)  # noqa: S311
        return now + wait <= ends and not self._db.closed.wait(wait)  # whoever closed it expects no answer


class Servers(Protocol):
    """The servers of a catalogue (`graph/servers.py`)."""

    def every(self) -> "Iterator[Database]":
        """Yield what reaches each of them."""

    def where(self, tenant: str) -> "Database":
        """Return the one that a tenant lives on."""

    def close(self) -> None:
        """Close the connections to all of them."""


class Home(Protocol):
    """Where a tenant lives by now, as far as is known here: at the database `at`."""

    tenant: str
    at: "Database"

    @property
    def servers(self) -> Servers:
        """The servers of which one is its home."""

    def turn(self) -> None:
        """Turn to where the tenant lives by now."""


class Database:
    """A pool of connections to one database; safe to share between threads.

    What fails in passing (a deadlock, a leader that moved) is tried again for `retry_time` seconds; where no server
    answers, for `connect_timeout` seconds at most. `lost` is asked then: it returns where one does by now, None
    where it knows no better, or raises what it knows. Reads are sent as reads, so that a cluster may route them to a
    follower. What can be read ends by the `clock` (docs/lifecycle.md). A child of a fork has connections of its own.
    """

    __slots__ = ("__dict__", "__weakref__", "_origin", "home", "vectors")
    _origin: "Database"  # whom forks know
    vectors: int
    """The number of the set of vectors that its statements name."""
    home: "Home | None"
    """Of a tenant alone, where it lives: all that is sent goes there."""
    closed: Event
    several: "Servers | None" = None
    """The servers that it was found to be one of, after it was connected to as a single one."""
    _borne_out: datetime | None = None  # a time that the clock has been put back from, and the server's is not behind
    _bookmarks: Any  # the driver has no public word for what it knows

    def __init__(
        self,
        at: Address,
        *,
        database: str,
        connect_timeout: float,
        retry_time: float,
        clock: Clock = utc_now,
        lost: Callable[[], Address | None] | None = None,
    ) -> None:
        self.vectors, self.home = 1, None
        self._at, self._lost = at, lost
        self.name = database
        self.connect_timeout, self.retry_time = connect_timeout, retry_time
        self._clock, self._latest = clock, UNKNOWN_PAST
        self._open = partial(
            neo4j.GraphDatabase.driver,
            connection_timeout=connect_timeout,
            connection_acquisition_timeout=connect_timeout + retry_time,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="memgraph-engine",
        )
        begun(self, Database._begin)

    def _begin(self) -> None:
        """Open a pool of this process's own.

        A child of a fork has the sockets of its parent, who goes on to use them: it closes them without a word.
        """
        self._lock, seen, former = Lock(), None, vars(self).get("_driver")
        if not (former and self.closed.is_set()):
            self.closed = Event()
        if former:
            for connection in chain.from_iterable(former._pool.connections.values()):
                connection.socket._socket.close()
            leave(former, self._bookmarks)
            seen = neo4j.Bookmarks.from_raw_values(self._bookmarks._bookmarks)
        # each transaction sees what those before it wrote or saw, whichever member of a cluster answers
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager(seen)
        self._driver = self._open(self._at.uri, auth=(self._at.user, self._at.password))

    @property
    def uri(self) -> str:
        """Where the server answers."""
        return (self.home.at if self.home else self)._at.uri

    @property
    def at(self) -> Address:
        """Where it was connected to, and with what credentials."""
        return self._at

    def beside(self, uri: str) -> "Database":
        """Connect to another server as to this one, with the same credentials; raises as `check` does."""
        return Database(
            replace(self._at, uri=uri),
            database=self.name,
            connect_timeout=self.connect_timeout,
            retry_time=self.retry_time,
            clock=self._clock,
        ).check()

    def of(self, vectors: int, home: "Home | None" = None) -> Self:
        """Return it over the same connections, to name another set of vectors, and to go where a tenant's `home` is."""
        other = object.__new__(type(self))
        other.__dict__, other.vectors, other._origin = self.__dict__, vectors, getattr(self, "_origin", self)
        other.home = home or self.home
        return other

    def fits(self, vectors: int, catalogue: str | None = None) -> None:
        """Raise Moved where the database searches another set of vectors by now, or has become one of a `catalogue`."""
        if vectors != self.vectors or (catalogue and not self.home):
            raise Moved(f"The embedder of the database at {self.uri} was changed. Connect anew, and try again.")

    def check_vectors(self) -> None:
        """Ask what the database searches, for what has no statement that tells it; raises Moved as `fits` does."""
        for store in self.run("store/read"):
            self.fits(store["vectors"], store["catalogue"])

    def check(self) -> Self:
        """Reach the server, and return this; or close it. Raises Unreachable, AuthenticationFailed or ServerTooOld."""
        try:
            with self._translated():
                agent = self._driver.get_server_info().agent
            self._check_version(agent)
        except BaseException:
            self.close()
            raise
        return self

    def _check_version(self, agent: str) -> None:
        version = agent.partition("/")[2]
        parts = version.split(".")
        if not all(part.isdigit() for part in parts[:2]) or tuple(map(int, parts[:2])) < OLDEST_SERVER:
            raise ServerTooOld(
                f"The server at {self.uri} is Neo4j {version}; "
                f"{'.'.join(f'{part:02}' for part in OLDEST_SERVER)} or newer is needed."
            )

    def everywhere(self) -> "Iterator[Database]":
        """Yield what reaches each server that there is."""
        yield from self.home.servers.every() if self.home else [self]

    def alive(self) -> datetime:
        """Return the present by which notes are read: the clock's, but never behind what it was before.

        So a clock that is put back shows nothing again. One that had jumped ahead of the server's clock is believed
        when it is right again, and hides nothing for longer.
        """
        now = self._clock().astimezone(UTC)
        with self._lock:
            latest = self._latest
            doubted = now < latest != self._borne_out
        if doubted:  # asked once of each time
            (row,) = self.run("store/clock")
            jumped = latest > datetime.fromtimestamp(row["now"] / 1000, UTC) + SKEW
        with self._lock:
            if doubted and self._latest == latest:
                self._latest, self._borne_out = (now, None) if jumped else (latest, latest)
            self._latest = max(self._latest, now)
            return self._latest

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one reading statement, which may make transactions of its own; nothing begins or ends one around it."""
        prepared, tries = self._alone(name, parameters, neo4j.READ_ACCESS), _Tries(self)
        with statement(name, self.name):
            while True:
                with self._trying(tries, neo4j.READ_ACCESS) as session:
                    return [dict(record) for record in session.run(*prepared)]

    def stream(self, name: str, /, **parameters: Any) -> Iterator[Row]:
        """Run one reading statement and yield its rows as they come, of which there may be millions."""
        prepared, tries = self._alone(name, parameters, neo4j.READ_ACCESS), _Tries(self)
        with statement(name, self.name):
            while True:
                with self._trying(tries, neo4j.READ_ACCESS) as session:
                    for record in session.run(*prepared):
                        tries.over = True  # a row can't be taken back
                        yield dict(record)
                    return

    def commit(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one writing statement as a transaction of its own, or as several that it makes.

        It is sent again when its answer is lost, though it may have been committed: a second time must do no harm.
        """
        prepared, tries = self._alone(name, parameters, neo4j.WRITE_ACCESS), _Tries(self)
        with statement(name, self.name):
            while True:
                with self._trying(tries, neo4j.WRITE_ACCESS) as session:
                    return [dict(record) for record in session.run(*prepared)]

    def read(self, work: Callable[[Runner], T]) -> T:
        """Run reading statements in one transaction."""
        return self._transacted(neo4j.READ_ACCESS, work)

    def write(self, work: Callable[[Runner], T]) -> T:
        """Run statements in one writing transaction: all of it happens, or nothing.

        `work` may run more than once, so it changes nothing outside the transaction. It is not sent again where the
        answer to its commit is lost.
        """
        return self._transacted(neo4j.WRITE_ACCESS, work)

    def _transacted(self, access: str, work: Callable[[Runner], T]) -> T:
        tries = _Tries(self)
        while True:
            with self._trying(tries, access) as session:
                transaction = session.begin_transaction(self._metadata(access))
                done = work(_Transaction(transaction, self, access))
                transaction.commit()
                return done

    def _alone(self, name: str, parameters: Row, access: str) -> tuple[str | neo4j.Query, Row]:
        """Return what the server gets of a statement that is a transaction."""
        text, given = _prepared(name, parameters, self, access)
        return (neo4j.Query(text, self._metadata(access)) if self.home else text), given

    def _metadata(self, access: str) -> Row | None:
        """Return what the server's list of transactions has of one: who moves a tenant waits for those of that."""
        return {"tenant": self.home.tenant, "writes": access == neo4j.WRITE_ACCESS} if self.home else None

    @contextmanager
    def _trying(self, tries: "_Tries", access: str) -> Iterator[neo4j.Session]:
        """Open a session for one try; where that fails in passing, the block ends, and is to be tried again."""
        with self._translated():
            try:
                with self._session(access) as session:
                    yield session
            except _FAILURES as error:
                if not tries.again(error):
                    raise

    def follow(self) -> None:
        """Turn to where the server answers, or the tenant lives, by now; raises what is known of one that does not."""
        if self.home:
            self.home.turn()
            return
        found = self._lost() if self._lost else None
        with self._lock:
            if found and found != self._at:
                self._at, former = found, self._driver
                self._driver = self._open(found.uri, auth=(found.user, found.password))
                former.close()

    def close(self) -> None:
        """Close all connections, also to the other servers; can be called twice."""
        if self.closed.is_set():
            return
        self.closed.set()
        self._driver.close()
        if servers := self.home.servers if self.home else self.several:
            servers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _session(self, access: str = neo4j.WRITE_ACCESS) -> Iterator[neo4j.Session]:
        """Open a session. An interrupt may cut a message in half: nothing more is said on that connection.

        The driver would say its goodbyes there, which the server takes for the rest of that message, or ask for the
        rest of a result that never began. An error stays what it was, also where the session can't be closed after it.
        """
        there = self.home.at if self.home else self
        session = there._driver.session(
            database=there.name, bookmark_manager=there._bookmarks, default_access_mode=access
        )
        try:
            yield session
        except BaseException as error:
            with suppress(Exception):
                if not isinstance(error, Exception) and session._connection:  # nor for this
                    session._connection.kill()  # type: ignore[no-untyped-call]
                    session._auto_result = None
                session.close()
            raise
        session.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the driver's errors into ours."""
        if self.closed.is_set():
            raise Closed(_CLOSED)
        try:
            yield
        except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as error:
            raise Closed(_CLOSED) if self.closed.is_set() else self._ours(error) from error

    def _ours(self, error: Exception) -> MemgraphEngineError:
        """Return our error for one of the driver's: the only place that knows both."""
        if isinstance(error, driver_errors.AuthError | driver_errors.TokenExpired):
            return AuthenticationFailed(
                f"{self.uri} refused the user or password: {error.message}. Check MEMGRAPH_ENGINE_USER and _PASSWORD."
            )
        if isinstance(error, driver_errors.ServiceUnavailable | driver_errors.SessionExpired | OSError):
            return Unreachable(
                f"No Neo4j answers at {self.uri}: {_first_line(error)}. "
                "Is it running (`memgraph-engine db start` starts the managed one), and is MEMGRAPH_ENGINE_URI right?"
            )
        if not isinstance(error, driver_errors.Neo4jError):
            return StoreError(f"The connection to {self.uri} failed: {_first_line(error)}.")
        if any(word in str(error.message) for word in _CRITICAL):
            return Unreachable(
                f"The server at {self.uri} can't write to its disk, which is full most likely, and so it keeps the "
                f"database {self.name!r} closed until it is started again. Free space, then run "
                "`memgraph-engine db stop` and `memgraph-engine db start`, or restart your own server."
            )
        if error.code in {
            "Neo.ClientError.Database.DatabaseNotFound",
            "Neo.TransientError.General.DatabaseUnavailable",
        }:
            return Unreachable(f"{self.uri} has no usable database {self.name!r}: {error.message}.")
        if self.home and _AWAY in str(error.message):
            return WriteConflict(
                f"The tenant {self.home.tenant!r} is being moved to another server, which takes some seconds more: "
                "this call was not carried out. Make it again."
            )
        if error.code == _NO_INDEX:
            return StoreError(
                f"The database at {self.uri} lacks an index, which a client that upgrades its schema makes anew, or "
                f"somebody has dropped. Try again later. {error.message}"
            )
        return QueryFailed(str(error.code), str(error.message))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".: ")
