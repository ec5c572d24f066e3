"""Blocks, their tree, and the runs that build it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.graph import schema
from memgraph_engine.graph.database import Database, Row, Runner, paged
from memgraph_engine.graph.leases import Overtaken
from memgraph_engine.graph.rows import made, packed
from memgraph_engine.interface.results import json_form
from memgraph_engine.model.block import Block, BlockRun

_PAGE = 2000  # notes or blocks in one statement
_BATCH = 1000  # blocks in one transaction: their vectors are large
_ALL = 2**31 - 1
SPARE = 6
"""Times as many blocks are looked at as are wanted: those on a branch of a better one are left out."""


@dataclass(frozen=True, slots=True)
class BlocksState:
    """What a run must find unchanged: the scope's version and its last run; and which version that one `read`."""

    version: int
    run: str
    read: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What a stored block was made from, '' where that changed since; by which schema a model described it, if any.

    `embedded_as` is the schema by which its vector is that of what it tells, '' for the mean of its notes' vectors. One
    that a model made of a unit has that as its `source`, and its `own` notes.
    """

    made_from: str
    described_as: str
    embedded_as: str
    source: str = ""
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """What a block holds, as it is now: `stamps` of its nearest notes, each with its cosine, the nearest first.

    It is `whole` where all of its notes can be read and none has changed since. `described` are fields that a model
    wrote of exactly these. Of a keyword it tells how many of the block's notes carry it, and of the memory's, which are
    `among`.
    """

    whole: bool
    described: Mapping[str, Any]
    described_by: str
    stamps: Sequence[tuple[int, float]]
    keywords: Sequence[tuple[str, int, int]]
    topics: Sequence[str]
    people: Sequence[str]
    sessions: Sequence[str]
    among: int


def state(db: Database, scope: str) -> BlocksState | None:
    """Return what a run begins with; None if there is no such scope. Raises StoreMismatch (`schema.told`)."""
    return schema.told(db, "blocks/state", scope, BlocksState)


def notes(db: Database, scope: str, dimensions: int) -> Iterator[tuple[list[Row], "NDArray[np.float32]"]]:
    """Yield the notes of blocks by pages (id, session, seq, at in ms, revision, stamp), and their vectors."""
    for rows in paged(db, "blocks/notes", _PAGE, scope=scope, dimensions=dimensions, after=""):
        raw = b"".join(row.pop("vector").raw() for row in rows)  # as Bolt has them: big-endian
        yield rows, np.frombuffer(raw, dtype=">f4").astype(np.float32).reshape(len(rows), dimensions)


def stored(db: Database, scope: str) -> dict[str, Stored]:
    """Return all blocks that are stored."""
    rows = chain.from_iterable(paged(db, "blocks/stored", _PAGE, scope=scope, after=""))
    return {row["id"]: made(Stored, row) for row in rows}


def write(db: Database, scope: str, seen: BlocksState, rows: Sequence[Row]) -> Iterator[int]:
    """Store blocks that nobody finds yet, in transactions of their own; yield how many are written by then.

    What a block holds comes before it. Each has id, made_from, level, leaves, notes, first_at, last_at (ms), vector,
    own (id and stamp of each note) and parts. Where a note was changed or erased since it was read, the block has
    nothing but its place. Raises Overtaken, with nothing of a transaction written, if the scope is gone, or another run
    wrote since it was `seen`.
    """
    for start in range(0, len(rows), _BATCH):
        some = [{**row, "vector": packed(row["vector"])} for row in rows[start : start + _BATCH]]
        if not db.commit("blocks/write", scope=scope, before=seen.run, rows=some):
            raise Overtaken
        yield start + len(some)


def describe(db: Database, scope: str, described_as: str, rows: Sequence[Row]) -> list[str]:
    """Store what a model wrote of blocks by a schema: id, made_from, described (the fields), described_by.

    One that it made of a unit has the `source`, and the notes that it was `shown` (id, stamp). Return the ids of what
    is stored: not of a block of which a note, or one that was shown, has changed since it was read.
    """
    none: Row = {"source": None, "shown": []}
    some = [{**none, **row, "described": json.dumps(json_form(row["described"]), ensure_ascii=False)} for row in rows]
    return [row["id"] for row in db.commit("blocks/describe", scope=scope, described_as=described_as, rows=some)]


def embed(db: Database, scope: str, embedded_as: str, rows: Sequence[Row]) -> None:
    """Give blocks the vectors of what they tell by a schema, or with '' means: id, made_from, vector.

    A block of which a note has changed since it was read keeps the one that it has.
    """
    for start in range(0, len(rows), _BATCH):
        some = [{**row, "vector": packed(row["vector"])} for row in rows[start : start + _BATCH]]
        db.commit("blocks/embed", scope=scope, embedded_as=embedded_as, rows=some)


def vectors(db: Database, scope: str, ids: Sequence[str], dimensions: int) -> dict[str, "NDArray[np.float32]"]:
    """Return the vectors of blocks; one that lost its own, or is no more, is left out."""
    rows = db.run("blocks/vectors", scope=scope, ids=list(ids), dimensions=dimensions)
    return {row["id"]: np.frombuffer(row["vector"].raw(), dtype=">f4").astype(np.float32) for row in rows}


def begin(tx: Runner, scope: str, seen: BlocksState, run: str, *, late: bool) -> int | None:
    """Lock the scope for a run, and return how many writes came since.

    None if another run wrote since, or, unless it is `late`, any writer.
    """
    rows = tx.run("blocks/begin", scope=scope, version=seen.version, before=seen.run, run=run, late=late)
    return int(rows[0]["changed_since"]) if rows else None


def runs(tx: Runner, scope: str, limit: int) -> list[BlockRun]:
    """Return the last runs, newest first."""
    return [made(BlockRun, row["run"]) for row in tx.run("blocks/runs", scope=scope, limit=limit)]


def tree(tx: Runner, scope: str) -> list[Block]:
    """Return all blocks of the present tree, in its order."""
    return _blocks(tx.run("blocks/tree", scope=scope, limit=_ALL))


def outline(tx: Runner, scope: str, most: int) -> list[Block]:
    """Return at most `most` blocks that hold all notes between them, in the tree's order; of more trees the largest.

    Those whose parts are farthest from each other are divided: no block is nearer in itself than its parts are.
    """
    found = _blocks(tx.run("blocks/tree", scope=scope, limit=2 * most))  # the roots, and all that may be divided
    roots = sorted((block for block in found if block.parent is None), key=lambda block: -block.notes)[:most]
    order = sorted(found, key=lambda block: (-block.distance, -block.level, block.entered))
    divided = [block.id for block in order if block.level][: most - len(roots)]
    parts = _blocks(tx.run("blocks/parts", scope=scope, ids=divided)) if divided else []
    return sorted((one for one in (*roots, *parts) if one.id not in divided), key=lambda one: one.entered)


def find(tx: Runner, scope: str, ids: Sequence[str]) -> list[Block]:
    """Return blocks of the present tree by their ids; what is no part of it is left out."""
    return _blocks(tx.run("blocks/find", scope=scope, ids=list(ids)))


def parts(tx: Runner, scope: str, id: str) -> list[Block]:
    """Return the two blocks that a block is made of; none of a leaf."""
    return _blocks(tx.run("blocks/parts", scope=scope, ids=[id]))


def search(
    tx: Runner, scopes: Sequence[str], vector: "NDArray[np.float32]", *, least: int, limit: int
) -> tuple[list[Block], int]:
    """Return the blocks nearest to a vector, the nearest first, and how many the index gave: some are in no tree.

    Those of more notes than the root of a memory's number of notes, and than `least`, are left out.
    """
    given = {"vector": packed(vector), "least": least, "limit": limit}
    rows = tx.run("blocks/search", scopes=list(scopes), **given)
    return [made(Block, row) for row in rows[0]["blocks"]], int(rows[0]["proposed"])


def members(
    tx: Runner, scopes: Sequence[str], blocks: Sequence[tuple[str, str]], vector: "NDArray[np.float32]", most: int
) -> dict[tuple[str, str], Sequence[int]]:
    """Return the stamps of the notes that blocks hold now, by scope and id; of very many the nearest to a vector."""
    rows = tx.run("blocks/members", scopes=list(scopes), blocks=_keys(blocks), vector=packed(vector), most=most)
    return {(row["scope"], row["id"]): row["stamps"] for row in rows}


def contents(
    tx: Runner,
    scopes: Sequence[str],
    blocks: Sequence[tuple[str, str]],
    vector: "NDArray[np.float32] | None",
    most: int,
    described_as: str,
) -> dict[tuple[str, str], Held]:
    """Return what blocks hold, by scope and id: of each the `most` notes nearest to a vector, or to its own.

    What a model wrote of them is that of the schema `described_as`.
    """
    given = {"vector": packed(vector), "most": most, "described_as": described_as}
    rows = tx.run("blocks/contents", scopes=list(scopes), blocks=_keys(blocks), **given)
    return {(row["scope"], row["id"]): made(Held, row) for row in rows}


def _keys(blocks: Sequence[tuple[str, str]]) -> list[Row]:
    return [{"scope": scope, "id": id} for scope, id in blocks]


def _blocks(rows: Sequence[Row]) -> list[Block]:
    return [made(Block, row["block"]) for row in rows]
