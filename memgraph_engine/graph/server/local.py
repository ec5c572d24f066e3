"""A managed Neo4j on this machine: started when it is needed, joined when it runs, stopped when asked."""

import errno
import logging
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from shutil import disk_usage
from threading import Thread
from typing import TYPE_CHECKING, Literal, TypeVar

from memgraph_engine.artifacts import fetch, read_lock, say
from memgraph_engine.errors import LocalServerError, MemgraphEngineError, Unreachable
from memgraph_engine.graph.database import Address
from memgraph_engine.graph.server import config, process, ready
from memgraph_engine.graph.server.config import quiet_copy
from memgraph_engine.graph.server.home import USER, Home, Record
from memgraph_engine.settings import Settings

if TYPE_CHECKING:
    import psutil

_log = logging.getLogger("memgraph_engine")

T = TypeVar("T")

_LOCK = "neo4j"
_ROOM = 64 << 20  # bytes of disk that a start needs: two transaction logs of 16 MB, and what they are checked by


@dataclass(frozen=True)
class Status:
    """What is known of the server; addresses and pid are None while it does not run.

    `fault` is why its database can't be used though it runs, in the server's words: a disk that is or was full, say.
    """

    running: bool
    fault: str | None
    address: str | None
    browser: str | None
    user: str
    pid: int | None
    version: str
    home: Path
    java_home: Path
    lib: Path
    log: Path
    data_bytes: int


class LocalServer:
    """The managed server of one home folder; any number of processes may hold one of these for it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._home = Home(settings.home)
        self._reviving = Thread()

    def start(self, *, progress: bool = True) -> Address:
        """Return the running server's address, after starting it if need be (some 8 s).

        It runs until `stop`, also when this process ends. `progress` tells on stderr what is fetched and
        started. Raises LocalServerError, DownloadError or MissingExtra.
        """
        address = self.address()
        if address and not self._refuses():
            return address
        if os.name != "posix":
            raise LocalServerError(
                "The managed server runs on Linux and macOS. Name a Neo4j server of yours by the setting uri."
            )
        self._home.make()
        with self._held():
            self._see_out()
            return self.address() or self._boot(progress=progress)

    def address(self) -> Address | None:
        """Return where the server answers, or None if it does not run or is still starting."""
        record = self._home.record()
        password = self._home.password()
        if record and record.ready and password and self._home.holds_data and process.find(self._home, record.pid):
            return Address(config.bolt_uri(record.bolt_port), USER, password)
        return None

    def lost(self) -> Address | None:
        """Return where a server that was lost answers by now, None while it is started or stopped.

        One that was killed is started again beside the caller, who is told so at once: raises Unreachable.
        """
        if address := self.address():
            return address
        if not self._reviving.is_alive():
            if not ((record := self._home.record()) and record.ready):
                return None
            self._reviving = Thread(target=self._revive, name="memgraph-engine-revive", daemon=True)
            self._reviving.start()
        raise Unreachable(
            f"The managed server of {self._home.path} ended without being stopped, and is being started again. "
            "That takes some 10 s: make this call again then."
        )

    def _revive(self) -> None:
        try:
            self.start(progress=False)
        except MemgraphEngineError as error:
            _log.error("The managed server could not be started again: %s", error)

    def status(self) -> Status:
        """Return what is known of the server, running or not."""
        record = self._home.record()
        running = self._running()
        on = record if running else None
        return Status(
            running=running is not None,
            fault=ready.fault(self._home, on.bolt_port, self._settings.database) if on and on.ready else None,
            address=config.bolt_uri(on.bolt_port) if on else None,
            browser=config.browser_url(on.http_port, on.bolt_port) if on else None,
            user=USER,
            pid=running.pid if running else None,
            version=on.version if on else _version(),
            home=self._home.path,
            java_home=process.java_home(),
            lib=self._lib,
            log=self._home.log,
            data_bytes=_bytes_in(self._home.data),
        )

    def stop(self, timeout: float = 60.0) -> Literal["stopped", "killed", "not running"]:
        """Stop the server and wait for its exit; kill it after `timeout` seconds.

        What was acknowledged is safe in either case; a killed server takes longer to start.
        """
        with self._held():
            return self._stop(timeout)

    def reset(self) -> None:
        """Stop the server and delete its data, password, configuration and logs. Asks nothing."""
        with self._held():
            self._stop(timeout=10.0)
            self._settle()
            self._home.erase()

    def compact(self, copied: Callable[[Address, Address], T]) -> T:
        """Let `copied` write what the store holds into an empty one, which then takes its place.

        The store runs where no other client finds it: until this ends, they wait for it, or are told that nothing
        answers. A server that ran is started again. If `copied` raises, or this is cut off, the store is as it was.
        Raises LocalServerError where there is no data, or no room for it twice.
        """
        with self._held():
            self._settle()
            size = _bytes_in(self._home.data)
            if not self._home.holds_data:
                raise LocalServerError(f"There is no data in {self._home.path}: there is nothing to compact.")
            if disk_usage(self._home.path).free < size + _ROOM:
                raise LocalServerError(
                    f"{self._home.path} has {size >> 20} MB of data, and less than that is free on its disk. A "
                    "compaction needs room for it twice: free space."
                )
            with self._stopped():
                found = self._copied(copied)
                self._home.take_compacted()
        return found

    def still(self, work: Callable[[Home, str], T]) -> T:
        """Let `work` read the files of the home, and tell it Neo4j's version, while no server runs on them.

        A server that ran is started again. Raises LocalServerError where there is no data.
        """
        with self._held():
            self._settle()
            if not self._home.holds_data:
                raise LocalServerError(f"There is no data in {self._home.path}: there is nothing to copy.")
            with self._stopped():
                return work(self._home, record.version if (record := self._home.record()) else _version())

    def replace(self, size: int, fill: Callable[[Home], object]) -> None:
        """Let `fill` put data of that size, and a password, into an empty home; these then take the place of ours.

        That is once a server has answered on them; else all is as it was. A server that ran is started again. Raises
        LocalServerError where there is no room.
        """
        self._home.make()
        with self._held():
            self._settle()
            if disk_usage(self._home.path).free < size + _ROOM:
                raise LocalServerError(
                    f"{size >> 20} MB are to be put beside the data in {self._home.path}, and less than that is free "
                    "on its disk: free space."
                )
            with self._stopped():
                fill(self._home.make_compacted())
                apart = {"bolt_port": 0, "http_port": 0, "home": self._home.compacted}
                new = LocalServer(self._settings.model_copy(update=apart))
                try:
                    new._open(None)
                finally:
                    new._stop(60.0)
                self._home.take_compacted()

    def logs(self, lines: int = 100) -> list[str]:
        """Return the last lines of the server's log."""
        return ready.log_lines(self._home)[-lines:]

    # ---- one step each ------------------------------------------------------------------------

    @property
    def _lib(self) -> Path:
        """The jars' folder, named after the lock so that another version's jars never mix in."""
        names = "".join(a.sha256 for a in read_lock(_LOCK))
        return self._settings.cache / "jars" / f"neo4j-{_version()}-{sha256(names.encode()).hexdigest()[:8]}"

    def _held(self) -> AbstractContextManager[None]:
        """Hold the home against others, if there is one: without it nobody starts one; it may be deleted under one."""
        return self._home.locked(self._settings.start_timeout + 60) if self._home.path.exists() else nullcontext()

    def _running(self) -> "psutil.Process | None":
        record = self._home.record()
        return (record and process.find(self._home, record.pid)) or process.search(self._home)

    def _refuses(self) -> bool:
        """Tell whether what was ready takes no calls: it was killed just now, or is being stopped."""
        record = self._home.record()
        return bool(record and record.ready and ready.refuses(record.bolt_port))

    def _see_out(self) -> None:
        """Wait until a server that is about to end is gone."""
        deadline = time.monotonic() + self._settings.start_timeout
        while self.address() and self._refuses():
            if time.monotonic() > deadline:
                raise LocalServerError(
                    f"The managed server runs but takes no calls. End it (`memgraph-engine db stop`). Its log says:\n"
                    f"{ready.tail(self._home)}"
                )
            time.sleep(0.05)

    def _stop(self, timeout: float) -> Literal["stopped", "killed", "not running"]:
        if record := self._home.record():
            self._home.note(replace(record, ready=False))  # so that no client takes it for killed
        running = self._running()
        if not running:
            return "not running"
        return "stopped" if process.end(self._home, running, timeout) else "killed"

    @contextmanager
    def _stopped(self) -> Iterator[None]:
        """Keep the server stopped, then see to its end what was begun meanwhile, and start one that ran."""
        ran = self._stop(60.0) != "not running"
        try:
            yield
        finally:
            self._settle()
            if ran:
                self._boot(progress=False)

    def _settle(self) -> None:
        """See a compaction that was cut off to its end, with the server that it had started."""
        if self._home.compacted.exists():  # else there is none to look for among all processes
            LocalServer(self._settings.model_copy(update={"home": self._home.compacted}))._stop(timeout=0)
        self._home.settle()

    def _copied(self, copied: Callable[[Address, Address], T]) -> T:
        """Let `copied` write what the store holds into an empty one in this home, and end the servers of both."""
        before = self._home.record()
        apart = self._settings.model_copy(update={"bolt_port": 0, "http_port": 0})
        old = LocalServer(apart)
        new = LocalServer(apart.model_copy(update={"home": self._home.make_compacted().path}))
        try:
            with ThreadPoolExecutor(1) as other:
                empty = other.submit(new._open, None)
                return copied(old._open(before), empty.result())
        finally:
            for server in (old, new):
                server._stop(60.0)
            if before:
                self._home.note(replace(before, ready=False))

    def _open(self, last: Record | None) -> Address:
        """Start the server for those alone who are told the address: on any free ports, and never noted as ready."""
        apart = replace(last, bolt_port=0, http_port=0) if last else None
        record = self._started(apart, progress=False)
        return Address(config.bolt_uri(record.bolt_port), USER, self._home.password() or "")

    def _boot(self, *, progress: bool) -> Address:
        """Bring the server up, or see to its end what a start that was cut short had begun."""
        self._settle()
        record = self._home.record()
        running = self._running()
        if running and not (record and record.pid == running.pid and self._home.holds_data):
            process.end(self._home, running, timeout=0)  # its files were deleted under it
            running = None
        try:
            if running and record:
                self._answering(record)
            else:
                record = self._started(record, progress=progress)
            self._home.note(replace(record, ready=True))
        except BaseException as error:  # Ctrl-C too: no server is left that nobody has seen answer
            if running and isinstance(error, LocalServerError) and not self._running():
                return self._boot(progress=progress)  # who was stopping it was killed
            self._stop(timeout=10.0)
            raise
        address = self.address()
        if not address:
            tail = ready.tail(self._home)
            raise LocalServerError(f"The managed server ended right after its start. Its log says:\n{tail}")
        return address

    def _started(self, last: Record | None, *, progress: bool) -> Record:
        """Start a process on this home and wait until it answers; returns its record.

        Nothing holds a port between its choice and Neo4j's start: where another process took it, others are chosen.
        """
        record = self._launch(last, progress=progress)
        try:
            self._answering(record)
        except LocalServerError:
            if self._running() or not config.taken(record.bolt_port, record.http_port):
                raise
            return self._started(record, progress=progress)
        return record

    def _launch(self, last: Record | None, *, progress: bool) -> Record:
        """Start a process on this home; returns its record."""
        version = _version()
        if last and self._home.holds_data and newer_than_ours(last.version):
            raise LocalServerError(
                f"The data in {self._home.path} was made by Neo4j {last.version}, newer than the {version} of this "
                "package. Upgrade memgraph-engine, or set another home."
            )
        heap = _check_memory(self._settings)
        if disk_usage(self._home.path).free < _ROOM:  # Neo4j would only hang
            raise self._home.fault(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        java = process.java_home()
        fetch(_LOCK, self._lib, self._settings.maven_url, progress=progress)
        say(f"Starting Neo4j {version}; it runs until `memgraph-engine db stop`.", progress=progress)
        bolt, http = config.pick_ports(self._settings, (last.bolt_port, last.http_port) if last else (0, 0))
        self._home.prepare_password()
        config.write(self._home, self._settings, bolt, http)
        pid = process.spawn(self._home, process.command(self._home, java, self._lib, quiet_copy(self._lib), heap))
        record = Record(pid, bolt, http, version)
        self._home.note(record)
        return record

    def _answering(self, record: Record) -> None:
        limit = self._settings.start_timeout
        ready.wait(self._home, record.pid, record.bolt_port, self._settings.database, limit)


def _version() -> str:
    """Return the version of Neo4j that the lock names."""
    return next(a.source for a in read_lock(_LOCK) if a.source.startswith("org.neo4j:neo4j:")).split(":")[2]


def newer_than_ours(version: str) -> bool:
    """Tell whether a version of Neo4j is newer than that of this package, so that it can't read what that wrote.

    >>> newer_than_ours("2099.01.0"), newer_than_ours("2025.01.0")
    (True, False)
    """
    return _numbers(version) > _numbers(_version())


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _check_memory(settings: Settings) -> int:
    """Return the heap in bytes; raises LocalServerError if the machine has too little memory for it."""
    import psutil

    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    heap, cache = (int(text[:-1]) * units[text[-1].lower()] for text in (settings.heap, settings.page_cache))
    total = psutil.virtual_memory().total
    if heap + cache > total:
        raise LocalServerError(
            f"The settings heap ({settings.heap}) and page_cache ({settings.page_cache}) ask for more memory "
            f"than the machine's {total >> 20} MB. Set them lower."
        )
    return heap


def _bytes_in(folder: Path) -> int:
    """Return the size of the folder's files; some may go away meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total
