"""All that one store holds, written into an empty one: nodes, relationships, and the schema around them."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from neo4j.time import DateTime

from memgraph_engine.errors import StoreError
from memgraph_engine.graph import schema
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.rows import packed

_ROWS = 1000  # in a transaction
_INDEXED = 6 * 3600  # seconds that indexes may take: a million vectors take minutes

T = TypeVar("T")


def copy(source: Database, target: Database, counted: Callable[[int, int], object]) -> tuple[int, int]:
    """Copy everything but indexes that are not ours; return how many nodes and relationships there are.

    `counted` is told how many of how many are written. The indexes are made from the whole, when all is there. Raises
    StoreError if the source holds no memory, or if what was written differs in number from what is there.
    """
    store = source.run("store/read")
    if not store:
        raise StoreError(f"The database at {source.uri} holds no memory yet.")
    model, dimensions = store[0]["model"], store[0]["dimensions"]
    schema.prepare(source, model, dimensions)
    there = _counts(source)
    nodes = sum(number for kind, number in there.items() if not isinstance(kind, str))
    total, done = sum(there.values()), 0
    vectors = {row["name"] for row in source.run("copy/vectors")}
    written: dict[str, str] = {}
    for rows in _batches(_parted(row, vectors) for row in source.stream("copy/nodes")):
        made = target.write(partial(_run, "copy/write_nodes", rows))
        written |= {row["id"]: row["written"] for row in made}
        counted(done := done + len(rows), total)
    for rows in _batches(source.stream("copy/relationships")):
        moved = [
            {**row, "a": written[row["a"]], "b": written[row["b"]], "properties": _exact(row["properties"])}
            for row in rows
        ]
        target.write(partial(_run, "copy/write_relationships", moved))
        counted(done := done + len(rows), total)
    schema.define(target, dimensions, _INDEXED)
    if _counts(target) != there:
        raise StoreError(f"What was written differs in number from what the database at {source.uri} holds.")
    return nodes, total - nodes


def _run(name: str, rows: list[Row], tx: Runner) -> list[Row]:
    return tx.run(name, rows=rows)


def _parted(row: Row, vectors: set[str]) -> Row:
    """Part a node's vectors from its other properties."""
    given = row["properties"]
    return {
        **row,
        "properties": _exact({name: value for name, value in given.items() if name not in vectors}),
        "vectors": [[name, packed(given[name])] for name in vectors & given.keys()],
    }


def _exact(value: Any) -> Any:
    """Return a value as it is stored: the driver reads a time in Z as one in the zone UTC, which equals none in Z."""
    if isinstance(value, dict):
        return {name: _exact(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_exact(one) for one in value]
    return value.replace(tzinfo=UTC) if isinstance(value, DateTime) and value.tzname() == "UTC" else value


def _counts(db: Database) -> dict[str | tuple[str, ...], int]:
    kinds = ((row["kind"], row["number"]) for row in db.run("copy/counts"))
    return {kind if isinstance(kind, str) else tuple(sorted(kind)): number for kind, number in kinds}


def _batches(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while some := list(islice(left, _ROWS)):
        yield some
