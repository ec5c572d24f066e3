"""Waiting until the managed server answers, and quoting its log where it does not."""

import re
import socket
import time
from collections.abc import Callable

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from memgraph_engine.errors import LocalServerError
from memgraph_engine.graph.server.config import HOST, bolt_uri
from memgraph_engine.graph.server.home import USER, Home

_STATUS = "SHOW DATABASE $name YIELD statusMessage"
_FAULT = re.compile(r"ERROR|Error|Exception|Caused by")
_NOISE = re.compile(r"^\s+at |^\s*\.\.\. \d+ more|^$")


def wait(home: Home, port: int, database: str, limit: float, alive: Callable[[], bool]) -> None:
    """Return once a query on the database is answered; raises LocalServerError after `limit` seconds."""
    deadline = time.monotonic() + limit
    while not (_listens(port) and _answers(home, port, database)):
        if not alive():
            raise LocalServerError(f"The managed server ended while it started. Its log says:\n{tail(home)}")
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"The managed server did not answer within {limit:.0f} s (the setting start_timeout). "
                f"Its log says:\n{tail(home)}"
            )
        time.sleep(0.05)


def tail(home: Home, lines: int = 8) -> str:
    """Return the last lines of the logs that mean something: no stack frames, errors first if there are any."""
    text = [line for line in log_lines(home) if not _NOISE.match(line)]
    faults = [line for line in text if _FAULT.search(line)]
    return "\n".join((faults or text)[-lines:]) or "(nothing)"


def log_lines(home: Home) -> list[str]:
    """Return Neo4j's log and what its process printed, oldest first."""
    text = []
    for path in (home.log, home.console):
        try:
            text += path.read_text(errors="replace").splitlines()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise home.fault(error) from error
    return text


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _answers(home: Home, port: int, database: str) -> bool:
    """Return whether the database answers; raises LocalServerError if it never will."""
    auth = (USER, home.password() or "")
    with neo4j.GraphDatabase.driver(bolt_uri(port), auth=auth, connection_timeout=5) as driver:
        try:
            driver.execute_query("RETURN 1", database_=database)
        except AuthError:
            raise LocalServerError(
                f"The managed server refuses the password kept in {home.path}. Write the right one into its file "
                "`password`, or delete the data by `memgraph-engine db reset`."
            ) from None
        except (DriverError, Neo4jError):  # it listens before it can serve
            _check_database(driver, home, database)
            return False
    return True


def _check_database(driver: neo4j.Driver, home: Home, database: str) -> None:
    """Raise LocalServerError if the database does not exist or can't be opened."""
    try:
        rows = driver.execute_query(_STATUS, name=database, database_="system").records
    except (DriverError, Neo4jError):
        return
    if not rows:
        raise LocalServerError(
            f"The managed server has no database {database!r}: the name was settled at the first start in "
            f"{home.path}. Set `database` back, or delete the data by `memgraph-engine db reset`."
        )
    if rows[0]["statusMessage"]:
        message = f"The managed server can't open its database {database!r}: {rows[0]['statusMessage']}"
        raise LocalServerError(f"{message} Its log says:\n{tail(home)}")
