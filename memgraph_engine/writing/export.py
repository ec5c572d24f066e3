"""Write all of one memory into a file, as of one moment.

Where somebody writes meanwhile, the export begins anew, and then lets writers wait for as long as it reads.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import Held, InvalidInput, NotFound, StoreError, WriteConflict
from memgraph_engine.files import written_whole
from memgraph_engine.graph import copying, erasures, schema
from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.memory_file import FORMAT, Head, Writer
from memgraph_engine.graph.statements import first_set
from memgraph_engine.model.memory import note_id
from memgraph_engine.model.ports import Counted
from memgraph_engine.model.result import Exported
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing import erasure

_UNLOCKED = 2  # attempts beside writers
_LOCKED = 3  # then, to which only what locks no scope can come in between: a pruning, an erasure that is carried out


class _Changed(Exception):
    """Somebody wrote while the memory was read."""


def export(engine: Engine, scope: Scope, path: Path, counted: Counted) -> Exported:
    """Write a memory into a file; `counted` is told how many lines of how many are written."""
    engine.db.fits(schema.recorded(engine.db).vectors)
    for attempt in range(_UNLOCKED + _LOCKED):
        _, kept = erasure.ended(engine, scope)
        if kept:
            named = ", ".join(f"{one.id} ({one.reason})" for one in kept)
            raise Held(
                f"Some of {scope} is past its end, and held: {named}. It can't be read, so it can't be exported. "
                "Release that first."
            )
        with suppress(_Changed):
            if attempt < _UNLOCKED:
                return _write(engine, scope, path, counted, engine.db)
            done = engine.db.write(partial(_write_locked, engine, scope, path))
            counted(done.nodes + done.relationships, done.nodes + done.relationships)
            return done
    raise WriteConflict(
        f"{scope} was changed during each of {_UNLOCKED + _LOCKED} attempts to export it; {path} was not written. "
        "Something is erased or pruned again and again: try later, or copy the whole database by `memgraph-engine db "
        "backup`."
    )


def _write_locked(engine: Engine, scope: Scope, path: Path, tx: Runner) -> Exported:
    """Write it under the lock that every writer of the scope takes first."""
    tx.run("scopes/lock", scope=scope.name)
    # nobody is told how far it is: whoever wrote to the memory then, from the same thread, would wait for ever
    return _write(engine, scope, path, lambda *_: None, tx)


def _write(engine: Engine, scope: Scope, path: Path, counted: Counted, tx: Runner) -> Exported:
    name = scope.name
    before = _itself(tx, name)
    if not before:
        raise NotFound(f"The memory of {scope} is empty: there is nothing to export.")
    if erasures.begun(tx, name):
        raise _Changed
    members = copying.members(tx, name)
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
    with _created(path) as file:
        writer, done = Writer(file, head), 0
        try:
            for ids in copying.batches(numbers):
                for row in _nodes(tx, name, ids):
                    writer.node({**row, "properties": first_set(row["properties"], engine.db.vectors)})
                counted(done := done + len(ids), head.total)
            for ids in copying.batches(numbers):
                for row in _ties(tx, name, ids, numbers):
                    writer.relationship(row)
                    done += 1
                counted(done, head.total)
            digest = writer.end()
        except StoreError:
            if _itself(tx, name) != before:  # half of it is of another moment, and need not fit
                raise _Changed from None
            raise
        if done != head.total or _itself(tx, name) != before:
            raise _Changed
        return Exported(str(path), len(members), head.relationships, file.tell(), digest)


def _itself(tx: Runner, scope: str) -> Mapping[str, Any] | None:
    """Return the properties of a scope, of which one at least changes with each write to it; None if there is none."""
    places = [row["id"] for row in copying.members(tx, scope, 1)]
    rows = tx.run("copy/nodes_at", scope=scope, ids=places)
    given = rows[0]["properties"].items() if rows else ()
    return {name: value for name, value in given if name not in ("lock", "filled")} or None


def _nodes(tx: Runner, scope: str, ids: Sequence[str]) -> list[Row]:
    """Return nodes by their places, with what the id of a note was made from; raises _Changed where one is gone."""
    found = {row["id"]: row for row in tx.run("copy/nodes_at", scope=scope, ids=ids)}
    if len(found) < len(ids):
        raise _Changed
    told = {place: sorted((source, part or 0) for source, part in row["told"]) for place, row in found.items()}
    return [
        {**row, "of": next((one for one in told[place] if note_id(scope, *one) == row["properties"]["id"]), None)}
        for place, row in ((place, found[place]) for place in ids)
    ]


def _ties(tx: Runner, scope: str, ids: Sequence[str], numbers: Mapping[str, int]) -> list[Row]:
    """Return the relationships that lead from some nodes, by the numbers of both ends, in the order of these."""
    rows = tx.run("copy/relationships_at", scope=scope, ids=ids)
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
