"""The job: read a scope's notes, build their tree, write what is different, describe it, and make it the present one.

Blocks are written first, a batch in a transaction, where nobody finds them; then one transaction makes the new tree the
present one. Readers see the former until then, and a run that fails or is killed leaves it: the next one takes over
what it has written, and what a model has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from uuid import uuid4

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.blocks.authoring import Author, Found
from memgraph_engine.blocks.describing import Describer, kept
from memgraph_engine.blocks.schema import schema
from memgraph_engine.blocks.tree import Node, Placed, Tree, paper_tree, tree
from memgraph_engine.engine.passes import Progress, Rebuild
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import blocks as block_graph
from memgraph_engine.graph.blocks import BlocksState, Stored
from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.leases import Overtaken
from memgraph_engine.graph.rows import stored
from memgraph_engine.model.block import BlockRun
from memgraph_engine.model.scope import Scope

_SOME, _REMOVED = 10_000, 1000  # rows of one statement, and blocks that one transaction removes
_STORED = ("id", "made_from", "level", "leaves", "notes", "first_at", "last_at")  # of a node
PHASES = ("read", "link", "write", "describe", "publish", "tidy")


class Blocks(Rebuild[BlockRun]):
    """Builds the tree of a scope anew.

    By the paper's linkage it is refused (SettingsError) where there are more leaves than `blocks.paper_leaves`.
    """

    name = "blocks"
    sign, why = "unbuilt", "writes since blocks were built"
    limit = "worker", "blocks_after", "writes"
    writing = ("publish", "tidy")
    tells = "blocks notes kept created renewed ended described"

    def __init__(self, engine: Engine, scope: Scope, tell: Progress | None = None) -> None:
        super().__init__(engine, scope, tell)
        settings = engine.settings.blocks
        self.shape, self.exact = schema(settings.schema_file), settings.exact
        self.farthest = settings.farthest
        self.dimensions = engine.embedder.dimensions
        self.paper_leaves = settings.paper_leaves if settings.linkage == "paper" else 0

    def state(self) -> BlocksState | None:
        """Return what a run begins with."""
        return block_graph.state(self.db, self.scope.name)

    @cached_property
    def describer(self) -> Describer:
        """What writes what blocks tell, asked once about each however often the run is made."""
        who = Author if self.paper_leaves else Describer
        return who(self.engine, self.scope.name, self.shape, self.spent)

    def once(self, before: str, *, late: bool) -> BlockRun:
        """Build it, write what is different, describe it, and make it the present one."""
        with self.phase("read"):
            seen = _seen(self)
            if seen.run != before and seen.version == seen.read:
                return block_graph.runs(self.db, self.scope.name, 1)[0]
            found = _read(self, seen)
        with self.phase("link"):
            made = _linked(self, found)
        gone = sorted(found.stored.keys() - {node.id for node in made.nodes})
        if not self.paper_leaves:
            with self.phase("write"):
                _write(self, found, made.nodes[::-1], made.vectors[::-1], "write")
            with self.phase("describe"):
                self.describer.describe(made, found.stored, self.tell)
        run = _described(self, made, found.stored)
        with self.phase("publish"):
            stored = replace(run, seconds={**self.seconds}, fallbacks=self.spent.kinds)
            since = self.db.write(lambda tx: _published(tx, seen, stored, made, gone, late=late))
            if since is None:
                raise Overtaken
        with self.phase("tidy"):
            if gone:
                self.db.commit("blocks/remove", scope=self.scope.name, ids=gone, rows=_REMOVED)
            _seen(self)
        return replace(run, changed_since=since, seconds=self.seconds)


def _seen(job: Blocks) -> BlocksState:
    if (state := job.state()) is None:
        raise NotFound(f"{job.scope.name!r} was removed while its blocks were made.")
    return state


def _read(job: Blocks, seen: BlocksState) -> Found:
    notes: list[Placed] = []
    stamps: dict[str, int] = {}
    vectors = [np.zeros((0, job.dimensions), dtype=np.float32)]
    for rows, some in block_graph.notes(job.db, job.scope.name, job.dimensions):
        stamps |= {row["id"]: row.pop("stamp") for row in rows}
        notes += [Placed(**row) for row in rows]
        vectors.append(some)
    return Found(seen, notes, np.concatenate(vectors), stamps, block_graph.stored(job.db, job.scope.name))


def _linked(job: Blocks, found: Found) -> Tree:
    """Return the tree; by the paper's linkage its blocks are written, and tell something, as they are merged."""
    author, most = job.describer, job.shape.most
    if not isinstance(author, Author):
        return tree(job.scope.name, found.notes, found.vectors, most=most, exact=job.exact)

    written = set[str]()

    def write(nodes: Sequence[Node], means: "NDArray[np.float64]") -> None:
        new = [at for at, node in enumerate(nodes) if node.id not in written]
        written.update(node.id for node in nodes)
        _write(job, found, [nodes[at] for at in new], means[new], "link")

    def speak(nodes: Sequence[Node], means: "NDArray[np.float64]") -> "NDArray[np.float64]":
        write(nodes, means)
        return author.speak(nodes, means, found.stored, job.tell)

    given = job.scope.name, found.notes, found.vectors, speak
    made = partial(author.leaves, found, write, job.tell)
    return paper_tree(*given, made=made, most=most, limit=job.paper_leaves, farthest=job.farthest)


def _write(job: Blocks, found: Found, nodes: Sequence[Node], vectors: "NDArray[np.float64]", phase: str) -> None:
    """Write the blocks that are not stored as they are."""
    rows: list[Row] = [
        {
            **{name: getattr(node, name) for name in _STORED},
            "vector": vector,
            "own": [{"id": id, "stamp": found.stamps[id]} for id in node.own],
            "parts": list(node.parts),
        }
        for node, vector in zip(nodes, vectors, strict=True)
        if not kept(node, found.stored)
    ]
    for _ in block_graph.write(job.db, job.scope.name, found.seen, rows):
        job.tell(phase)


def _described(job: Blocks, made: Tree, stored: Mapping[str, Stored]) -> BlockRun:
    same = sum(kept(node, stored) for node in made.nodes)
    created = sum(node.id not in stored for node in made.nodes)
    leaves = sum(root.leaves for root in made.roots)
    described, before, undescribed = job.describer.counts(made, stored)
    return BlockRun(
        id=uuid4().hex,
        scope=job.scope.name,
        at=job.now,
        notes=sum(root.notes for root in made.roots),
        leaves=leaves,
        blocks=len(made.nodes),
        depth=max((root.level for root in made.roots), default=0),
        kept=same,
        created=created,
        renewed=len(made.nodes) - same - created,
        ended=len(stored.keys() - {node.id for node in made.nodes}),
        linkage="paper" if job.paper_leaves else "average",
        exact=leaves <= job.exact,
        described=described,
        described_before=before,
        undescribed=undescribed,
        fallbacks=job.spent.fallbacks,
        cost=job.spent.cost,
    )


def _published(
    tx: Runner, seen: BlocksState, run: BlockRun, made: Tree, gone: Sequence[str], *, late: bool
) -> int | None:
    """Make the tree the present one in one transaction; return the writes since it was read.

    None, with nothing written, where it must be prepared anew.
    """
    scope = run.scope
    since = block_graph.begin(tx, scope, seen, run.id, late=late)
    if since is None:
        return None
    rows: list[Row] = [
        {"id": node.id, "entered": node.entered, "left": node.left, "distance": node.height} for node in made.nodes
    ]
    for start in range(0, len(rows), _SOME):
        tx.run("blocks/place", scope=scope, rows=rows[start : start + _SOME])
    if gone:
        tx.run("blocks/end", scope=scope, ids=gone)
    if since:
        tx.run("blocks/late", scope=scope, version=seen.version)  # what was changed meanwhile is stale
    tx.run("blocks/record", scope=scope, id=run.id, properties=stored(replace(run, changed_since=since)))
    return since
