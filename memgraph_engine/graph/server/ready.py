"""Waiting until the managed server answers, and quoting its log where it does not."""

import json
import re
import socket
import time
from pathlib import Path

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from memgraph_engine.errors import LocalServerError
from memgraph_engine.graph.server import process
from memgraph_engine.graph.server.config import HOST, bolt_uri
from memgraph_engine.graph.server.home import USER, Home

_BLANK = " \t\x06"  # the last is Neo4j's word to whoever started it that it is up
_HANDSHAKE = bytes.fromhex("6060b017 00000005 00000000 00000000 00000000")  # Bolt's first words: version 5.0
_STATUS = "SHOW DATABASE $name YIELD statusMessage"
_FAULT = re.compile(r"ERROR|Error|Exception|Caused by")
_NOISE = re.compile(r"^\s+at |^\s*\.\.\. \d+ more")


def wait(home: Home, pid: int, port: int, database: str, limit: float) -> None:
    """Return once a query on the database is answered; raises LocalServerError after `limit` seconds."""
    deadline = time.monotonic() + limit
    while not (process.listens(pid, port) and _answers(home, port, database)):  # another server may have the port
        if not process.find(home, pid):
            raise LocalServerError(f"The managed server ended while it started. Its log says:\n{tail(home)}")
        if time.monotonic() > deadline:
            raise LocalServerError(
                f"The managed server did not answer within {limit:.0f} s (the setting start_timeout). "
                f"Its log says:\n{tail(home)}"
            )
        time.sleep(0.05)


def refuses(port: int) -> bool:
    """Tell whether a call of a port is refused or cut off; one that is not answered in time is neither."""
    with socket.socket() as probe:
        probe.settimeout(5)
        try:
            probe.connect((HOST, port))
            probe.sendall(_HANDSHAKE)
            return not probe.recv(1)
        except TimeoutError:
            return False
        except OSError:
            return True


def fault(home: Home, port: int, database: str) -> str | None:
    """Return why a server that runs can't use its database, in the server's words; None if it can."""
    with _driver(home, port) as driver:
        try:
            rows = driver.execute_query(_STATUS, name=database, database_="system").records
        except (DriverError, Neo4jError) as error:
            return str(error).partition("\n")[0]
    return next((row["statusMessage"] for row in rows), f"There is no database {database!r}.") or None


def _driver(home: Home, port: int) -> neo4j.Driver:
    auth = (USER, home.password() or "")
    return neo4j.GraphDatabase.driver(bolt_uri(port), auth=auth, connection_timeout=5, max_transaction_retry_time=0)


def tail(home: Home, lines: int = 8) -> str:
    """Return the last lines of the logs that mean something: what the JVM said and errors, if any."""
    log = _read(home, home.log)
    said = [line for line in log if _FAULT.search(line)] + _read(home, home.console) or _errors(home)
    return "\n".join([line for line in said or log if not _NOISE.match(line)][-lines:]) or "(nothing)"


def _errors(home: Home) -> list[str]:
    """Return the errors in the debug log, each with its first cause."""
    said = []
    for line in _read(home, home.debug_log):
        try:
            entry = json.loads(line)
        except ValueError:  # the end of a line that is being written
            continue
        if entry.get("level") == "ERROR":
            causes = [c for c in entry.get("stacktrace", "").splitlines() if c.startswith("Caused by")]
            said += [entry["message"], *causes[-1:]]
    return said


def log_lines(home: Home) -> list[str]:
    """Return Neo4j's log and what its process printed, oldest first."""
    return _read(home, home.log) + _read(home, home.console)


def _read(home: Home, path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(errors="replace").splitlines() if line.strip(_BLANK)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise home.fault(error) from error


def _answers(home: Home, port: int, database: str) -> bool:
    """Return whether the database answers; raises LocalServerError if it never will."""
    with _driver(home, port) as driver:
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
