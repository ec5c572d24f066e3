"""The one connection to Neo4j: transactions, retries, and the translation of the driver's errors."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
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
    SettingsError,
    StoreError,
    Unreachable,
)
from memgraph_engine.graph.statements import BrokenStatement, statements
from memgraph_engine.model.memory import UNKNOWN_PAST
from memgraph_engine.model.ports import Clock, utc_now

OLDEST_SERVER = (2026, 8)
# what the driver says while it tries again goes to those who configure logging, and to nobody else
logging.getLogger("neo4j").addHandler(logging.NullHandler())
_FIRST_WAIT = 0.1  # seconds, doubled each time
_SCHEMES = {family + security for family in ("bolt", "neo4j") for security in ("", "+s", "+ssc")}

# what a server says that could not write to its disk: at first, and from then on, also when there is space again
_CRITICAL = ("No space left on device", "has encountered a critical error")

_CLOSED = "This Memory was closed: connect again, or close it (or leave its `with`) after the last call."

Row = dict[str, Any]
T = TypeVar("T")


class Runner(Protocol):
    """Runs named statements: the database itself for one read, or a transaction."""

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run the statement `cypher/{name}.cypher` and return its rows."""


class _Transaction:
    def __init__(self, transaction: neo4j.ManagedTransaction, alive: Callable[[], datetime]) -> None:
        self._transaction, self._alive = transaction, alive

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        text, given = _prepared(name, parameters, self._alive)
        return [dict(record) for record in self._transaction.run(text, given)]


_PRESENT = ("alive", "present")
"""Parameters that are the present unless they are given: no reader of notes can forget that notes end."""


def _prepared(name: str, parameters: Row, alive: Callable[[], datetime]) -> tuple[str, Row]:
    """Return what the server gets of a statement."""
    statement = statements()[name]
    lacking = statement.parameters - parameters.keys()
    if lacking:
        parameters = {**parameters, **{one: alive() for one in _PRESENT if one in lacking}}
    if statement.parameters != parameters.keys():
        raise BrokenStatement(
            f"{name}: called with the wrong parameters {sorted(statement.parameters ^ parameters.keys())}"
        )
    return statement.call(parameters)


class Database:
    """A pool of connections to one database; safe to share between threads.

    Transactions that fail in passing (a deadlock, a leader that moved) are tried again by the driver
    for `retry_time` seconds. Reads are sent as reads, so that a cluster may route them to a follower.
    What can be read ends by the `clock` (docs/lifecycle.md).
    """

    def __init__(
        self,
        uri: str,
        user: str,
        password: str,
        *,
        database: str,
        connect_timeout: float,
        retry_time: float,
        clock: Clock = utc_now,
    ) -> None:
        if uri.partition("://")[0] not in _SCHEMES:
            raise _unusable(uri, "the scheme is another")
        self.uri = uri
        self._closed = Event()
        self._database, self._retry_time = database, retry_time
        self._clock, self._latest, self._lock = clock, UNKNOWN_PAST, Lock()
        try:
            self._driver = neo4j.GraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=connect_timeout,
                connection_acquisition_timeout=connect_timeout + retry_time,
                max_transaction_retry_time=retry_time,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                user_agent="memgraph-engine",
            )
            # each transaction sees what those before it wrote or saw, whichever member of a cluster answers
            self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        except (driver_errors.ConfigurationError, ValueError) as error:
            raise _unusable(uri, str(error)) from None

    def check(self) -> None:
        """Reach the server; raises Unreachable, AuthenticationFailed or ServerTooOld."""
        with self._translated():
            self._driver.verify_connectivity()
            agent = self._driver.get_server_info().agent
        version = agent.partition("/")[2]
        parts = version.split(".")
        if not all(part.isdigit() for part in parts[:2]) or tuple(map(int, parts[:2])) < OLDEST_SERVER:
            raise ServerTooOld(
                f"The server at {self.uri} is Neo4j {version}; "
                f"{'.'.join(f'{part:02}' for part in OLDEST_SERVER)} or newer is needed."
            )

    def alive(self) -> datetime:
        """Return the present by which notes are read: the clock's, but never behind what it was before.

        So a clock that is put back shows nothing again.
        """
        with self._lock:
            self._latest = max(self._latest, self._clock().astimezone(UTC))
            return self._latest

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one reading statement, which may make transactions of its own."""
        return self._alone(neo4j.READ_ACCESS, name, parameters)

    def stream(self, name: str, /, **parameters: Any) -> Iterator[Row]:
        """Run one reading statement and yield its rows as they come, of which there may be millions."""
        text, given = _prepared(name, parameters, self.alive)
        with self._translated(), self._session(neo4j.READ_ACCESS) as session:
            yield from map(dict, session.run(text, given))

    def commit(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one writing statement as a transaction of its own.

        It is sent again when its answer is lost, though it may have been committed: a second time must do no harm.
        """
        return self._alone(neo4j.WRITE_ACCESS, name, parameters)

    def _alone(self, access: str, name: str, parameters: Row) -> list[Row]:
        """Run a statement without the messages that begin and end a transaction, and with retries of our own."""
        text, given = _prepared(name, parameters, self.alive)
        wait, ends = _FIRST_WAIT, time.monotonic() + self._retry_time
        with self._translated():
            while True:
                try:
                    with self._session(access) as session:
                        return [dict(record) for record in session.run(text, given)]
                except (driver_errors.Neo4jError, driver_errors.DriverError) as error:
                    if not error.is_retryable() or time.monotonic() + wait > ends:
                        raise
                    if self._closed.wait(wait):  # whoever closed it expects no answer
                        raise
                wait *= 2

    def read(self, work: Callable[[Runner], T]) -> T:
        """Run reading statements in one transaction."""
        with self._translated(), self._session() as session:
            return session.execute_read(lambda tx: work(_Transaction(tx, self.alive)))

    def write(self, work: Callable[[Runner], T]) -> T:
        """Run statements in one writing transaction: all of it happens, or nothing.

        `work` may run more than once, so it changes nothing outside the transaction.
        """
        with self._translated(), self._session() as session:
            return session.execute_write(lambda tx: work(_Transaction(tx, self.alive)))

    def batches(self, name: str, /, **parameters: Any) -> None:
        """Run a statement that makes transactions of its own."""
        with self._translated(), self._session() as session:
            session.run(*_prepared(name, parameters, self.alive)).consume()

    def close(self) -> None:
        """Close all connections; can be called twice."""
        self._closed.set()
        self._driver.close()

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
        session = self._driver.session(
            database=self._database, bookmark_manager=self._bookmarks, default_access_mode=access
        )
        try:
            yield session
        except BaseException as error:
            with suppress(Exception):
                if not isinstance(error, Exception) and session._connection:  # the driver has no public word for it
                    session._connection.kill()  # type: ignore[no-untyped-call]
                    session._auto_result = None
                session.close()
            raise
        session.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the driver's errors into ours."""
        if self._closed.is_set():
            raise Closed(_CLOSED)
        try:
            yield
        except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as error:
            raise Closed(_CLOSED) if self._closed.is_set() else self._ours(error) from error

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
                f"database {self._database!r} closed until it is started again. Free space, then run "
                "`memgraph-engine db stop` and `memgraph-engine db start`, or restart your own server."
            )
        if error.code in {
            "Neo.ClientError.Database.DatabaseNotFound",
            "Neo.TransientError.General.DatabaseUnavailable",
        }:
            return Unreachable(f"{self.uri} has no usable database {self._database!r}: {error.message}.")
        return QueryFailed(str(error.code), str(error.message))


def _unusable(uri: str, why: str) -> SettingsError:
    return SettingsError(
        f"uri {uri!r} can't be used: {why}. It is of the form bolt://HOST:PORT, neo4j:// or neo4j+s://."
    )


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".: ")
