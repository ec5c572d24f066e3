"""Blocks as they are read: chosen for a question, or shown as an outline; what they tell is made of their notes now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.blocks.fields import Contents, fields, nested, spoken
from memgraph_engine.blocks.schema import Schema, schema
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import blocks as block_graph
from memgraph_engine.graph.blocks import SPARE
from memgraph_engine.graph.note_cache import CachedNote
from memgraph_engine.model.block import LONGEST, Block
from memgraph_engine.model.marker import as_line
from memgraph_engine.model.memory import Note
from memgraph_engine.model.scope import Scope
from memgraph_engine.trust import Trust, least

MOST_NOTES = 12
"""Notes that a block tells: a large one holds more than any model reads."""
_MORE = 4  # times as many, where too few were left
_MOST = 10_000


def selected(engine: Engine, scopes: Sequence[str], vector: "NDArray[np.float32]", k: int) -> list[Block]:
    """Return the k blocks nearest to a question's vector of which none holds another; fewer where there are no more."""
    limit = SPARE * k
    while True:
        ranked, proposed = block_graph.search(engine.db, scopes, vector, least=LONGEST, limit=limit)
        chosen = branch_aware(ranked, k)
        if len(chosen) == k or proposed < limit or limit >= _MOST:
            return chosen
        limit = min(_MORE * limit, _MOST)


def find(engine: Engine, scope: Scope, id: str) -> Block:
    """Return a block with its fields; raises NotFound."""
    return told(engine, [scope.name], [_stored(engine, scope, id)], engine.language_of(scope), None)[0][0]


def outline(engine: Engine, scope: Scope, nodes: int, below: str | None) -> list[Block]:
    """Return at most so many blocks that hold all notes between them; or the two of which one is made."""
    if below is None:
        found = block_graph.outline(engine.db, scope.name, nodes)
    else:
        found = block_graph.parts(engine.db, scope.name, _stored(engine, scope, below).id)
    return told(engine, [scope.name], found, engine.language_of(scope), None)[0]


def _stored(engine: Engine, scope: Scope, id: str) -> Block:
    for block in block_graph.find(engine.db, scope.name, [id]):
        return block
    raise NotFound(f"There is no block {id!r} in the memory of {scope}.")


def told(
    engine: Engine, scopes: Sequence[str], blocks: Sequence[Block], language: str, vector: "NDArray[np.float32] | None"
) -> tuple[list[Block], list[Note], list[str]]:
    """Return blocks with their fields, the notes that these tell of, and what each tells in a line.

    They are of each block those nearest to the question, or to the block's middle.
    """
    shape = schema(engine.settings.blocks.schema_file)
    found = contents(engine, scopes, {_key(block): (block.first_at, block.last_at) for block in blocks}, vector, shape)
    some = [(block, found[_key(block)]) for block in blocks if _key(block) in found]
    every = [fields(shape, one, language) for _, one in some]
    shown = [
        replace(block, fields=nested(each), described_by=one.held.described_by)
        for (block, one), each in zip(some, every, strict=True)
    ]
    lines = [
        as_line(f"Block of {block.notes} notes, {block.first_at:%Y-%m-%d} to {block.last_at:%Y-%m-%d}: "
                f"{spoken(shape, each)}".replace("\n", "; "))
        for block, each in zip(shown, every, strict=True)
    ]  # fmt: skip
    return shown, [*{note.id: note for one in found.values() for note in one.notes}.values()], lines


def contents(
    engine: Engine,
    scopes: Sequence[str],
    blocks: Mapping[tuple[str, str], tuple[datetime, datetime]],
    vector: "NDArray[np.float32] | None",
    shape: Schema,
) -> dict[tuple[str, str], Contents]:
    """Return by scope and id what blocks hold that are from one time to another."""
    held = block_graph.contents(engine.db, scopes, [*blocks], vector, MOST_NOTES, shape.key) if blocks else {}
    notes = cached(engine, scopes, ([stamp for stamp, _ in one.stamps] for one in held.values()))
    engine.notes.complete(engine.db, scopes, [*notes.values()])
    return {
        key: Contents(one, tuple(note.note() for note in near if note.whole), *blocks[key])
        for key, one in held.items()
        for near in [[notes[stamp] for stamp, _ in one.stamps if stamp in notes]]
    }


def scored(
    engine: Engine, scopes: Sequence[str], vector: "NDArray[np.float32]", blocks: Sequence[Block]
) -> list[tuple[CachedNote, float]]:
    """Return the notes of blocks that were `selected` for a question's vector, each with its score, the best first.

    A score is the mean of two cosines to the question, the block's and that of the note's two vectors: so what stands
    among notes on the same matter comes before what is near by itself alone.
    """
    held = block_graph.members(engine.db, scopes, [*map(_key, blocks)], vector, LONGEST) if blocks else {}
    notes = cached(engine, scopes, held.values())
    unit = np.asarray(vector, dtype=np.float32) / (np.linalg.norm(vector) or 1)
    own = {stamp: float((note.vectors @ unit).mean()) for stamp, note in notes.items() if note.vectors is not None}
    best: dict[int, float] = {}
    for block in blocks:
        for stamp in held.get((block.scope, block.id), ()):
            if stamp in own:
                best[stamp] = max(best.get(stamp, -1.0), ((block.score or 0.0) + own[stamp]) / 2)
    return sorted(((notes[stamp], score) for stamp, score in best.items()), key=lambda one: (-one[1], one[0].id))


def trusted(
    engine: Engine, scopes: Sequence[str], vector: "NDArray[np.float32]", blocks: Sequence[Block]
) -> list[Trust]:
    """Return of each of some blocks how far it is trusted: as the least trusted of its notes is."""
    held = block_graph.members(engine.db, scopes, [*map(_key, blocks)], vector, LONGEST) if blocks else {}
    notes = cached(engine, scopes, held.values())
    engine.notes.complete(engine.db, scopes, [*notes.values()])
    every = ([notes[stamp] for stamp in held.get(_key(block), ()) if stamp in notes] for block in blocks)
    return [least(note.note().trust for note in some if note.whole) for some in every]


def cached(engine: Engine, scopes: Sequence[str], held: Iterable[Iterable[int]]) -> dict[int, CachedNote]:
    """Return the notes of some stamps, by these; what has changed since is left out."""
    stamps = sorted(set(chain.from_iterable(held)))
    return engine.notes.read(engine.db, scopes, stamps, engine.embedder.dimensions)[0] if stamps else {}


def _key(block: Block) -> tuple[str, str]:
    return block.scope, block.id


def branch_aware(ranked: Iterable[Block], k: int) -> list[Block]:
    """Return the first k of ranked blocks that neither hold nor are held by one taken before (LightMem, 3.5)."""
    taken: list[Block] = []
    for one in ranked:
        if len(taken) == k:
            break
        pairs = ((one, other) if one.entered <= other.entered else (other, one) for other in taken)
        if not any(first.scope == second.scope and second.left <= first.left for first, second in pairs):
            taken.append(one)
    return taken
