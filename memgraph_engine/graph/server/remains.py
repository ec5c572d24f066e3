"""What the managed server's files still hold of words that its graph may hold no more (docs/erasure.md)."""

import mmap
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memgraph_engine.graph.server.home import Home

_RUN = 5  # words


def remains(home: Path, words: str) -> dict[Path, int]:
    """Return how many runs of five words the files of a server hold, of a shorter line the whole; the most first.

    They are looked for as they are written. A store's file holds long texts in pieces, so not each run is found.
    """
    runs = {run.encode() for line in words.splitlines() for run in _runs(line)}
    held = Counter({path: sum(text.find(run) >= 0 for run in runs) for path, text in _files(Home(home).data)})
    return {path: some for path, some in held.most_common() if some}


def _runs(line: str) -> Iterator[str]:
    """Return each run of five words of a line, or all its words if these are fewer.

    >>> list(_runs("The code of the gate is 4711."))
    ['The code of the gate', 'code of the gate is', 'of the gate is 4711']
    """
    words = list(re.finditer(r"\w+", line))
    for first in range(max(len(words) - _RUN, 0) + 1 if words else 0):
        yield line[words[first].start() : words[min(first + _RUN, len(words)) - 1].end()]


def _files(folder: Path) -> Iterator[tuple[Path, "mmap.mmap"]]:
    for path in sorted(folder.rglob("*")):
        try:
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                yield path, text
        except (OSError, ValueError):  # no file, gone meanwhile, or empty
            continue
