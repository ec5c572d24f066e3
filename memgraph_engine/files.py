"""Files that are there once they are whole."""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for its owner alone, which is there under its name once all of it is on the disk; raises OSError.

    Until then it stands beside that, and is locked. What others left there that were killed is removed first: nobody
    holds the lock of that any more.
    """
    _clear(path)
    part, descriptor = _begun(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)  # still locked: else another could take it for one that was left
    finally:
        part.unlink(missing_ok=True)


def _begun(path: Path) -> tuple[Path, int]:
    """Return where a file stands that is being written, and the descriptor by which it is open and locked."""
    while True:
        part = path.with_name(f".{path.name}.{uuid4().hex}.part")
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(OSError):  # where the file system knows no locks, nobody else can take it either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return part, descriptor
        os.close(descriptor)  # taken for one that was left, before it was locked


def _clear(path: Path) -> None:
    """Remove what stands beside a path from a writing that was killed."""
    left = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}\.part")
    for name in os.listdir(path.parent):
        if left.fullmatch(name):
            with suppress(OSError):  # it is being written, or somebody else's
                _remove_left(path.parent / name)


def _remove_left(part: Path) -> None:
    """Remove a file that nobody has locked; raises OSError otherwise."""
    descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(descriptor)
