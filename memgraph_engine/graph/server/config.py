"""The managed server's configuration: neo4j.conf, its ports, and the Browser, which talks to this machine alone."""

import os
import socket
import time
import zipfile
from pathlib import Path
from urllib.parse import urlencode

from memgraph_engine.errors import LocalServerError
from memgraph_engine.graph.server.home import USER, Home
from memgraph_engine.resources import resource
from memgraph_engine.settings import Settings

# The page asks for fonts, release news and usage statistics from elsewhere as soon as it opens, before any
# setting of the server reaches it. The browser itself is told to let it ask nobody but this machine.
_POLICY = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; "
    "connect-src 'self' ws://127.0.0.1:* ws://localhost:* http://127.0.0.1:* http://localhost:*"
)
_PAGE = "browser/index.html"
_META = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'

HOST = "127.0.0.1"

# The server is this machine's alone, tells nobody that it exists, reads no files for a query, and keeps no
# more history than a recovery needs: forgotten text leaves the transaction logs with the next checkpoints.
# The room of a log is taken when it is begun, as is Neo4j's default: where a disk was full in the middle of a log's
# entry, no later start could read that log.
# Without the last two lines a stop waits 10 s, after the data is safe, for connections that are gone already.
_CONF = """\
server.default_listen_address={host}
server.bolt.listen_address={host}:{bolt_port}
server.bolt.advertised_address={host}:{bolt_port}
server.http.listen_address={host}:{http_port}
server.http.advertised_address={host}:{http_port}
server.http.x_forward.enabled=false
initial.dbms.default_database={database}
server.memory.heap.max_size={heap}
server.memory.pagecache.size={page_cache}
server.fleet_discovery.enabled=false
dbms.fleet_manager.enabled=false
dbms.usage_report.enabled=false
client.allow_telemetry=false
dbms.security.allow_csv_import_from_file_urls=false
db.tx_log.rotation.size=16m
db.tx_log.rotation.retention_policy=keep_none
internal.dbms.bolt.netty_server_shutdown_quiet_period_duration=0s
internal.dbms.bolt.netty_server_shutdown_timeout=1s
"""

_LET_GO = 2.0  # seconds


def write(home: Home, settings: Settings, bolt_port: int, http_port: int) -> None:
    """Write neo4j.conf for these ports."""
    text = _CONF.format(
        host=HOST,
        bolt_port=bolt_port,
        http_port=http_port,
        database=settings.database,
        heap=settings.heap,
        page_cache=settings.page_cache,
    )
    try:
        (home.conf / "neo4j.conf").write_text(text)
    except OSError as error:
        raise home.fault(error) from error


def pick_ports(settings: Settings, last: tuple[int, int]) -> tuple[int, int]:
    """Return the Bolt and HTTP ports: those set, else those of last time if free, else any free ones."""
    wanted = (("bolt_port", settings.bolt_port, last[0]), ("http_port", settings.http_port, last[1]))
    with socket.socket() as bolt, socket.socket() as http:  # both held until both are known, so that they differ
        for held, (name, port, before) in zip((bolt, http), wanted, strict=True):
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Java does: a port just left is free
            if port:
                _bind(held, name, port)
            elif not (before and _binds(held, before)):
                held.bind((HOST, 0))
        return bolt.getsockname()[1], http.getsockname()[1]


def taken(*ports: int) -> bool:
    """Tell whether another process holds one of these ports."""
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if not _binds(probe, port):
                return True
    return False


def _bind(held: socket.socket, name: str, port: int) -> None:
    try:
        held.bind((HOST, port))
    except OSError as error:
        raise LocalServerError(
            f"Port {port} of the setting {name} can't be used: {error.strerror}. Set another, or 0 for any free one."
        ) from None


def _binds(held: socket.socket, port: int) -> bool:
    """Take a port, if need be after a moment: a killed server keeps it until its memory is returned."""
    deadline = time.monotonic() + _LET_GO
    while True:
        try:
            held.bind((HOST, port))
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        else:
            return True


def bolt_uri(port: int) -> str:
    """Return the address for the driver."""
    return f"bolt://{HOST}:{port}"


def browser_url(http_port: int, bolt_port: int) -> str:
    """Return the address at which Neo4j Browser opens with server and user filled in and a query written."""
    query = {
        "connectURL": f"bolt://{USER}@{HOST}:{bolt_port}",
        "cmd": "edit",
        "arg": resource("config", "browser", "first.cypher").read_text("utf-8").strip(),
    }
    return f"http://{HOST}:{http_port}/browser/?{urlencode(query)}"


def quiet_copy(lib: Path) -> Path:
    """Return a copy of the Browser's jar whose page reaches this machine only, made beside `lib` if need be."""
    (jar,) = lib.glob("neo4j-browser-*.jar")
    copy = lib.with_name(f"{lib.name}-{jar.stem}-local.jar")
    if copy.exists():
        return copy
    part = copy.with_suffix(f".{os.getpid()}.part")
    try:
        with zipfile.ZipFile(jar) as given, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made:
            for item in given.infolist():
                content = given.read(item)
                if item.filename == _PAGE:
                    content = content.replace(b"<head>", b"<head>" + _META.encode(), 1)
                made.writestr(item, content)
        part.replace(copy)
    except OSError as error:
        raise LocalServerError(
            f"{copy} can't be written: {error.strerror}. Free space, or set another cache."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return copy
