"""Files that are there once they are whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for its owner alone, which is there under its name once all of it is on the disk; raises OSError."""
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
