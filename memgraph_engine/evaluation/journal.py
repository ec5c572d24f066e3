"""A file of JSON lines that is only added to, so that what it holds survives whatever ends the program."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from memgraph_engine.errors import InvalidInput

Key = tuple[str | int, ...]


class Journal:
    r"""Entries by their keys, in memory and in a file; the last entry of a key counts. Safe to share between threads.

    A line that was cut off when it was written is taken away. Raises InvalidInput for a file of another kind.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "answers.jsonl"
    ...     Journal(file).add(("ana", 1), {"answer": "Lisbon"})
    ...     _ = file.write_text(file.read_text() + '{"key": ["bo", 1], "ans')
    ...     dict(Journal(file).items()), file.read_text().count("\n")
    ({('ana', 1): {'answer': 'Lisbon'}}, 1)
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self._entries: dict[Key, Mapping[str, Any]] = {}
        if not file.exists():
            return
        whole = file.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]
        for number, line in enumerate(kept.decode(errors="replace").splitlines(), 1):
            try:
                entry = json.loads(line)
                self._entries[tuple(entry.pop("key"))] = entry
            except (ValueError, KeyError, TypeError, AttributeError):
                raise InvalidInput(f"{file} can't be gone on with: line {number} is no entry of a run.") from None
        if kept != whole:
            file.write_bytes(kept)

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def get(self, key: Key) -> Mapping[str, Any] | None:
        """Return an entry, None if there is none."""
        return self._entries.get(key)

    def items(self) -> Iterator[tuple[Key, Mapping[str, Any]]]:
        """Yield all keys with their entries, in the order of writing."""
        yield from self._entries.items()

    def add(self, key: Key, entry: Mapping[str, Any]) -> None:
        """Write an entry down at once."""
        line = json.dumps({"key": key, **entry}, ensure_ascii=False)
        with self._lock:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            self._entries[key] = entry
