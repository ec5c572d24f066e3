"""Write all of one memory into a file, as of one moment: where somebody writes meanwhile, the export begins anew."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import Held, InvalidInput, NotFound, WriteConflict
from memgraph_engine.files import written_whole
from memgraph_engine.graph import copying, erasures, schema
from memgraph_engine.graph.database import Database, Row
from memgraph_engine.graph.memory_file import FORMAT, Head, Writer
from memgraph_engine.model.memory import note_id
from memgraph_engine.model.ports import Counted
from memgraph_engine.model.result import Exported
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing import erasure

_ATTEMPTS = 5


class _Changed(Exception):
    """Somebody wrote while the memory was read."""


def export(engine: Engine, scope: Scope, path: Path, counted: Counted) -> Exported:
    """Write a memory into a file; `counted` is told how many lines of how many are written.

    What is to be erased by now is erased first. Raises Held where a hold keeps some of that, since it can't be read,
    NotFound for an empty memory, and WriteConflict where somebody wrote during each of five attempts.
    """
    for _ in range(_ATTEMPTS):
        _, kept = erasure.ended(engine, scope)
        if kept:
            named = ", ".join(f"{one.id} ({one.reason})" for one in kept)
            raise Held(
                f"Some of {scope} is past its end, and held: {named}. It can't be read, so it can't be exported. "
                "Release that first."
            )
        with suppress(_Changed), _created(path) as file:
            return _write(engine, scope, file, path, counted)
    raise WriteConflict(
        f"Others wrote to {scope} during each of {_ATTEMPTS} attempts to export it; {path} was not written. Try again "
        "when less is written, or copy the whole database by `memgraph-engine db backup`."
    )


def _write(engine: Engine, scope: Scope, file: IO[bytes], path: Path, counted: Counted) -> Exported:
    db, name = engine.db, scope.name
    before = _itself(db, name)
    if not before:
        raise NotFound(f"The memory of {scope} is empty: there is nothing to export.")
    if erasures.begun(db, name):
        raise _Changed
    members = copying.members(db, name)
    numbers = {row["id"]: number for number, row in enumerate(members)}
    head = Head(
        FORMAT,
        schema.VERSION,
        engine.embedder.name,
        engine.embedder.dimensions,
        scope.tenant,
        scope.user or "",
        dict(Counter(row["label"] for row in members)),
        sum(row["ties"] for row in members),
    )
    writer, done = Writer(file, head), 0
    for ids in copying.batches(numbers):
        for row in _nodes(db, name, ids):
            writer.node(row)
        counted(done := done + len(ids), head.total)
    for ids in copying.batches(numbers):
        for row in _ties(db, name, ids, numbers):
            writer.relationship(row)
            done += 1
        counted(done, head.total)
    if done != head.total or _itself(db, name) != before:
        raise _Changed
    digest = writer.end()
    return Exported(str(path), len(members), head.relationships, file.tell(), digest)


def _itself(db: Database, scope: str) -> Mapping[str, Any] | None:
    """Return the properties of a scope, of which one at least changes with each write to it; None if there is none."""
    places = [row["id"] for row in copying.members(db, scope, 1)]
    rows = db.run("copy/nodes_at", scope=scope, ids=places)
    return {name: value for name, value in rows[0]["properties"].items() if name != "lock"} if rows else None


def _nodes(db: Database, scope: str, ids: Sequence[str]) -> list[Row]:
    """Return nodes by their places, with what the id of a note was made from; raises _Changed where one is gone."""
    found = {row["id"]: row for row in db.run("copy/nodes_at", scope=scope, ids=ids)}
    if len(found) < len(ids):
        raise _Changed
    return [{**found[place], "of": _made_of(scope, found[place])} for place in ids]


def _made_of(scope: str, row: Row) -> tuple[str, int] | None:
    """Return the source and the passage that the id of a note was made from, if it still tells it."""
    given = sorted((source, part or 0) for source, part in row["told"])
    return next((one for one in given if note_id(scope, *one) == row["properties"]["id"]), None)


def _ties(db: Database, scope: str, ids: Sequence[str], numbers: Mapping[str, int]) -> list[Row]:
    """Return the relationships that lead from some nodes, by the numbers of both ends, in the order of these."""
    rows = db.run("copy/relationships_at", scope=scope, ids=ids)
    if any(row["b"] not in numbers for row in rows):
        raise _Changed
    given = [{**row, "a": numbers[row["a"]], "b": numbers[row["b"]]} for row in rows]
    return sorted(given, key=lambda row: (row["a"], row["kind"], row["b"], repr(sorted(row["properties"].items()))))


@contextmanager
def _created(path: Path) -> Iterator[IO[bytes]]:
    try:
        with written_whole(path) as file:
            yield file
    except OSError as error:
        raise InvalidInput(f"{path} can't be written: {error.strerror}.") from None
