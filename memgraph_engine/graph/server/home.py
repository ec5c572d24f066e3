"""The managed server's home: its folders, its password, and the record of the process that runs on it."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from memgraph_engine.errors import LocalServerError, needed

USER = "neo4j"
_OURS = (
    "data",
    "conf",
    "logs",
    "run",
    "import",
    "plugins",
    "licenses",
    "password",
    "server.json",
    "compacted",
    "data.former",
)


@dataclass(frozen=True)
class Record:
    """What was last started here; `ready` once it had answered a query."""

    pid: int
    bolt_port: int
    http_port: int
    version: str
    ready: bool = False


class Home:
    """The folder of one managed server, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.data = self.path / "data"
        self.conf = self.path / "conf"
        self.logs = self.path / "logs"
        self.log = self.logs / "neo4j.log"
        self.debug_log = self.logs / "debug.log"  # one JSON object a line
        self.console = self.logs / "console.log"  # what the process itself prints: faults of the JVM, mostly nothing
        self.compacted = self.path / "compacted"  # the home of the server that a compaction or a restoration writes to
        self._former = self.path / "data.former"  # the data in whose place that server's is put
        self._password = self.path / "password"
        self._record = self.path / "server.json"

    def make(self) -> None:
        """Create the folders; raises LocalServerError if they can't be written."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.path.chmod(0o700)
            for folder in (self.data, self.conf, self.logs):
                folder.mkdir(exist_ok=True)
        except OSError as error:
            raise self.fault(error) from error

    def fault(self, error: OSError) -> LocalServerError:
        """Say that the home can't be used, and why."""
        return LocalServerError(
            f"The managed server's home {self.path} can't be used: {error.strerror}. "
            "Free space, or name a folder that can be written by the setting home."
        )

    @property
    def holds_data(self) -> bool:
        """Whether a database was made here and not deleted since."""
        return (self.data / "databases" / "system").exists()

    def erase(self) -> None:
        """Delete everything that the server and `make` put here."""
        for path in (self.path / name for name in _OURS):
            try:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            except OSError as error:
                raise self.fault(error) from error

    # ---- a compaction -------------------------------------------------------------------------

    def make_compacted(self) -> "Home":
        """Make an empty home in this one, whose server has the same password."""
        fresh = Home(self.compacted)
        fresh.make()
        fresh._write(fresh._password, self.password() or "")
        return fresh

    def take_compacted(self) -> None:
        """Put its data in the place of this home's; where that is cut off, `settle` brings it to an end."""
        try:
            self.data.replace(self._former)
            (self.compacted / "data").replace(self.data)
        except OSError as error:
            raise self.fault(error) from error
        self.settle()

    def settle(self) -> None:
        """Bring to an end what a compaction or a restoration began.

        Where its data is in place, its password follows, and the former data goes; else that comes back.
        """
        try:
            if self._former.exists() and self.holds_data and (password := Home(self.compacted)._password).exists():
                password.replace(self._password)
            if self._former.exists() and not self.holds_data:
                shutil.rmtree(self.data, ignore_errors=True)
                self._former.replace(self.data)
            for path in (self._former, self.compacted):
                if path.exists():
                    shutil.rmtree(path)
        except OSError as error:
            raise self.fault(error) from error

    # ---- the password -------------------------------------------------------------------------

    def password(self) -> str | None:
        """Return the password of user neo4j, or None before the first start."""
        return self._read(self._password)

    def prepare_password(self) -> None:
        """Make the password if there is none, and give it to a server that has no database yet."""
        if self.holds_data:
            if not self.password():
                raise LocalServerError(
                    f"{self.path} holds a database, but its password file is missing. Put {self._password} "
                    "back, or delete the data by `memgraph-engine db reset`."
                )
            return
        password = self.password() or secrets.token_hex(16)
        self._write(self._password, password)
        # What `neo4j-admin dbms set-initial-password` writes, without a JVM's start and without the password
        # on a command line, where every user of the machine could read it.
        salt = secrets.token_bytes(32)
        digest, rounds = sha256(salt + password.encode()).digest(), 1024
        for _ in range(rounds - 1):
            digest = sha256(digest).digest()
        (self.data / "dbms").mkdir(parents=True, exist_ok=True)
        line = f"{USER}:SHA-256,{digest.hex()},{salt.hex()},{rounds}:\n"
        self._write(self.data / "dbms" / "auth.ini", line)

    # ---- the record ---------------------------------------------------------------------------

    def record(self) -> Record | None:
        """Return what was last started here, if anything."""
        text = self._read(self._record)
        try:
            return Record(**json.loads(text)) if text else None
        except (ValueError, TypeError):
            return None  # damaged, or of another version of this package: as good as none

    def note(self, record: Record) -> None:
        """Replace the record in one step."""
        self._write(self._record, json.dumps(asdict(record)))

    @contextmanager
    def locked(self, limit: float) -> Iterator[None]:
        """Hold the home against other processes that start or stop its server; waits `limit` seconds."""
        with needed("The managed server", "local"):
            import filelock
        lock = filelock.FileLock(self.path / ".lock")
        try:
            lock.acquire(timeout=limit)
        except filelock.Timeout:
            raise LocalServerError(
                f"Another process has been starting or stopping the server of {self.path} for {limit:.0f} s. "
                "Wait for it, or end it, and try again."
            ) from None
        except OSError as error:
            raise self.fault(error) from error
        try:
            yield
        finally:
            lock.release()

    def _read(self, path: Path) -> str | None:
        try:
            return path.read_text()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self.fault(error) from error

    def _write(self, path: Path, text: str) -> None:
        part = path.with_name(path.name + ".part")
        try:
            part.unlink(missing_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(text)
            part.replace(path)
        except OSError as error:
            raise self.fault(error) from error
