"""Backups of the managed server: all of its data and its password in one archive, which is put back as it was.

The archive is a tar file. Its last member tells what the others are, with the SHA-256 of each: one that was cut off has
none.
"""

import json
import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from io import BytesIO
from pathlib import Path, PurePosixPath
from shutil import copyfileobj, disk_usage
from typing import IO, Any

from memgraph_engine.errors import LocalServerError
from memgraph_engine.files import written_whole
from memgraph_engine.graph.server.home import Home
from memgraph_engine.graph.server.local import LocalServer, newer_than_ours
from memgraph_engine.model.ports import Counted
from memgraph_engine.settings import Settings

FORMAT = "memgraph-engine backup 1"
_TELLS = "backup.json"
_PASSWORD = "password"  # noqa: S105  the name of a file
_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\b", re.ASCII)
_BLOCK = 1 << 20
_MOST_TOLD = 1 << 26  # bytes of what tells of the others: some 100 for each file
_OVERHEAD = 2 * tarfile.BLOCKSIZE  # of a file in an archive, at most


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds: how many files of the server, how many bytes these have, and when it was made."""

    path: Path
    files: int
    bytes: int
    made: datetime


def backup(settings: Settings, path: Path, counted: Counted = lambda *_: None) -> Backup:
    """Stop the managed server, write all of its data into an archive, and start it again if it ran.

    `path` is the archive, or a folder, in which it gets a name with the time. `counted` is told how many bytes of how
    many are written. Its owner alone can read it, since it holds the password. Raises LocalServerError where there is
    no data, no room, or no way to write there; then nothing is left there.
    """
    made = datetime.now(UTC).replace(microsecond=0)
    if path.is_dir():
        path = path / f"memgraph-engine-{made:%Y-%m-%dT%H%M%SZ}.tar"

    def write(home: Home, version: str) -> Backup:
        data = sorted(one for one in home.data.rglob("*") if one.is_file())
        files = [(f"data/{one.relative_to(home.data).as_posix()}", one) for one in data]
        size = sum(one.stat().st_size for _, one in files)
        try:
            free = disk_usage(path.parent).free
            if free < size + _OVERHEAD * (len(files) + 2):
                raise LocalServerError(
                    f"{home.path} has {size >> 20} MB of data, and {path.parent} has {free >> 20} MB free: free space, "
                    "or name another place for the backup."
                )
            with written_whole(path) as file:
                _write(file, home, files, {"format": FORMAT, "neo4j": version, "made": made.isoformat()}, size, counted)
        except OSError as error:
            raise LocalServerError(f"The backup {path} can't be written: {error.strerror}.") from None
        return Backup(path, len(files), size, made)

    return LocalServer(settings).still(write)


def restore(settings: Settings, path: Path, counted: Counted = lambda *_: None) -> Backup:
    """Put the data of a backup, and its password, in the place of the managed server's.

    What is there stays until a server was seen to answer on the restored data; if anything fails, or this is cut off,
    it is there again. A server that ran is started again. Raises LocalServerError for what is no backup, or a damaged
    one, of a newer Neo4j, and where there is no room.
    """
    told = _checked(path, counted)

    def fill(home: Home) -> None:
        with _opened(path) as archive:
            for member in archive:
                if member.name != _TELLS:
                    _put(archive, member, home.path / member.name)

    LocalServer(settings).replace(told.bytes, fill)
    return told


def _write(
    file: IO[bytes], home: Home, files: list[tuple[str, Path]], told: dict[str, Any], size: int, counted: Counted
) -> None:
    sums, done = dict[str, str](), 0
    with tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for name, one in files:
            with one.open("rb") as content:
                reading = _Summed(content)
                member = tarfile.TarInfo(name)
                member.size, member.mode = one.stat().st_size, 0o600
                archive.addfile(member, reading)
            sums[name] = reading.digest
            counted(done := done + member.size, size)
        password = (home.password() or "").encode()
        _add(archive, _PASSWORD, password)
        sums[_PASSWORD] = sha256(password).hexdigest()
        _add(archive, _TELLS, json.dumps({**told, "bytes": size, "files": sums}, sort_keys=True).encode())


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o600
    archive.addfile(member, BytesIO(content))


class _Summed:
    """A file that is read once, and summed up meanwhile."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._sum = file, sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._sum.update(data)
        return data

    @property
    def digest(self) -> str:
        return self._sum.hexdigest()


def _checked(path: Path, counted: Counted) -> Backup:
    """Read a whole backup, and return what it is; raises LocalServerError where it is none."""
    sums, content, done = dict[str, str](), b"", 0
    whole = path.stat().st_size if path.is_file() else 0
    with _opened(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() and member.size >= 0 else None
            if file is None or not _ours(member.name):
                raise _none(path, f"it holds {member.name!r}")
            if member.name == _TELLS:
                content = file.read(_MOST_TOLD)
            else:
                sums[member.name] = file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
                counted(done := done + (member.size if member.name != _PASSWORD else 0), whole)
    try:
        made, version, size, told = _parsed(content)
        newer = newer_than_ours(version)
    except Exception:  # noqa: BLE001  whatever can't be made of it, no backup wrote it
        raise _none(path, "it was cut off, or another program made it") from None
    if changed := sorted(name for name in {*sums, *told} if sums.get(name) != told.get(name)):
        raise _none(path, f"{changed[0]} is not what was written")
    if size != done:
        raise _none(path, f"it holds {done:,} bytes of data, and tells of {size:,}")
    if newer:
        raise LocalServerError(
            f"{path} is of Neo4j {version}, newer than that of this package. Upgrade memgraph-engine to restore it."
        )
    return Backup(path, len(sums) - 1, done, made)


def _parsed(content: bytes) -> tuple[datetime, str, int, Mapping[str, str]]:
    """Return when and by which Neo4j a backup says it was made, its bytes of data, all sums; raises whatever comes."""
    given = json.loads(content)
    version, size, sums = given["neo4j"], given["bytes"], given["files"]
    texts = [version, *sums.keys(), *sums.values()]
    if given["format"] != FORMAT or type(size) is not int or not all(isinstance(one, str) for one in texts):
        raise ValueError
    if _PASSWORD not in sums or not _VERSION.match(version):
        raise ValueError
    return datetime.fromisoformat(given["made"]), version, size, sums


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, mode="r:") as archive:
            yield archive
    except LocalServerError:
        raise
    except OSError as error:
        raise LocalServerError(f"The backup {path} can't be read: {error.strerror or error}.") from None
    except Exception as error:  # noqa: BLE001  an archive that is damaged meets all kinds of errors in its reader
        raise _none(path, str(error) or type(error).__name__) from None


def _none(path: Path, why: str) -> LocalServerError:
    return LocalServerError(f"{path} is no whole backup: {why}. The server's data is as it was.")


def _ours(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return name in (_TELLS, _PASSWORD) or (parts[:1] == ("data",) and len(parts) > 1 and ".." not in parts)


def _put(archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    content = archive.extractfile(member)
    assert content is not None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            copyfileobj(content, file, _BLOCK)
    except (OSError, ValueError) as error:
        raise LocalServerError(
            f"{place} can't be written: {getattr(error, 'strerror', None) or error}. The server's data is as it was."
        ) from None
