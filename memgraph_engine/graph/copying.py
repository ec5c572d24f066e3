"""Nodes and relationships as they are stored, read and written exactly: all of a store, or all of a scope."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import islice
from typing import Any, TypeVar

from neo4j.time import DateTime

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import StoreError
from memgraph_engine.graph import schema
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.rows import packed
from memgraph_engine.model.ports import Counted

ROWS = 1000  # in a transaction
_INDEXED = 6 * 3600  # seconds that indexes may take: a million vectors take minutes
_ALL = 1 << 62

T = TypeVar("T")


def copy(source: Database, target: Database, counted: Counted) -> tuple[int, int]:
    """Copy everything but indexes that are not ours; return how many nodes and relationships there are.

    `counted` is told how many of how many are written. The indexes are made from the whole, when all is there. Raises
    StoreError if the source holds no memory, or if what was written differs in number from what is there.
    """
    store = source.run("store/read")
    if not store:
        raise StoreError(f"The database at {source.uri} holds no memory yet.")
    model, dimensions = store[0]["model"], store[0]["dimensions"]
    source = source.of(store[0]["vectors"])
    schema.prepare(source, model, dimensions)
    there = _counts(source)
    nodes = sum(number for kind, number in there.items() if not isinstance(kind, str))
    total, done = sum(there.values()), 0
    written: dict[str, str] = {}
    for rows in batches(source.stream("copy/nodes")):
        written |= write_nodes(target, [parted(row, dimensions) for row in rows])
        counted(done := done + len(rows), total)
    for rows in batches(source.stream("copy/relationships")):
        write_relationships(target, rows, written)
        counted(done := done + len(rows), total)
    for one in (*store, *source.run("vectors/second")):
        schema.define(target.of(one["vectors"]), one["dimensions"], _INDEXED)
    if _counts(target) != there:
        raise StoreError(f"What was written differs in number from what the database at {source.uri} holds.")
    return nodes, total - nodes


def write_nodes(target: Database, rows: Sequence[Row]) -> dict[Any, str]:
    """Write nodes whose vectors are parted from their other properties; return the place of each by its own `id`."""
    given = with_vectors(rows)
    return {row["id"]: row["written"] for row in target.write(lambda tx: tx.run("copy/write_nodes", rows=given))}


def with_vectors(rows: Iterable[Row]) -> list[Row]:
    """Return nodes with their parted vectors as they are sent."""
    return [{**row, "vectors": [[name, packed(vector)] for name, vector in row["vectors"].items()]} for row in rows]


def write_relationships(target: Database, rows: Sequence[Row], places: Mapping[Any, str]) -> None:
    """Write relationships between nodes that are written, whose places are known."""
    given = moved(rows, places)
    target.write(lambda tx: tx.run("copy/write_relationships", rows=given))


def moved(rows: Iterable[Row], places: Mapping[Any, str]) -> list[Row]:
    """Return relationships with the places that their nodes have now."""
    return [
        {**row, "a": places[row["a"]], "b": places[row["b"]], "properties": exact(row["properties"])} for row in rows
    ]


def members(tx: Runner, scope: str, limit: int = _ALL) -> list[Row]:
    """Return the nodes of a scope in an order that does not change: id (their place in the store), label, ties."""
    return tx.run("copy/members", scope=scope, limit=limit)


def parted(row: Row, dimensions: int) -> Row:
    """Part a node's vectors from its other properties: what has as many numbers, and loses nothing as four bytes each.

    So a vector is known that no index holds, too, like that of a keyword that rests.
    """
    given = row["properties"]
    found = {name: _vector(value, dimensions) for name, value in given.items()}
    return {
        **row,
        "properties": exact({name: value for name, value in given.items() if found[name] is None}),
        "vectors": {name: vector for name, vector in found.items() if vector is not None},
    }


def _vector(value: object, dimensions: int) -> "NDArray[np.float32] | None":
    if not (isinstance(value, list) and len(value) == dimensions and isinstance(value[0], float)):
        return None
    numbers = np.asarray(value)
    short = numbers.astype(np.float32)
    return short if (short == numbers).all() else None


def exact(value: Any) -> Any:
    """Return a value as it is stored: the driver reads a time in Z as one in the zone UTC, which equals none in Z."""
    if isinstance(value, dict):
        return {name: exact(one) for name, one in value.items()}
    if isinstance(value, list):
        return [exact(one) for one in value]
    return value.replace(tzinfo=UTC) if isinstance(value, DateTime) and value.tzname() == "UTC" else value


def _counts(db: Database) -> dict[str | tuple[str, ...], int]:
    kinds = ((row["kind"], row["number"]) for row in db.run("copy/counts"))
    return {kind if isinstance(kind, str) else tuple(sorted(kind)): number for kind, number in kinds}


def batches(rows: Iterable[T]) -> Iterator[list[T]]:
    """Yield as many rows as are written in a transaction, again and again."""
    left = iter(rows)
    while some := list(islice(left, ROWS)):
        yield some
