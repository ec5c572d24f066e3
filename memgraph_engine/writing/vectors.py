"""Give nodes the vectors of another embedder, beside those that they have.

What lacks them is looked for, so any run can be cut off and made again.

A write removes the vectors of other sets from what it changes (`cypher/fragments/writes/outdate.cypher`), so what has
them is as it was when they were made.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import topics
from memgraph_engine.graph.database import Row, Runner, paged
from memgraph_engine.graph.rows import packed
from memgraph_engine.graph.statements import of_set

_NOTES, _NAMES = 256, 1024  # whose texts are embedded at once
_LEAVES = 500  # whose notes' vectors are read at once
_KINDS = ("notes", "keywords", "claims", "topics", "blocks")

Batch = tuple[str, list[Row], int]
"""Rows of a kind for vectors/write, and how many texts were embedded for them."""


@dataclass(frozen=True, slots=True)
class Filling:
    """Fills the set of an engine with what another set, `of`, has vectors of."""

    engine: Engine
    of: int

    def fill(self, runner: Runner, scope: str, write: Callable[[Row], object], wrote: Callable[[int], object]) -> None:
        """Fill a scope until nothing lacks; `write` runs a batch, and `wrote` is told of how many texts it was."""
        lacks = True
        while lacks:
            lacks = False
            for kind, rows, texts in self.lacking(runner, scope):
                write({"scope": scope, "found": self._of("embedding"), **dict.fromkeys(_KINDS, ()), kind: rows})
                wrote(texts)
                lacks = True

    def lacks(self, runner: Runner, scope: str) -> bool:
        """Whether anything in a scope lacks a vector."""
        return any(True for _ in self.lacking(runner, scope, embeds=False))

    def lacking(self, runner: Runner, scope: str, *, embeds: bool = True) -> Iterator[Batch]:
        """Yield what lacks vectors, with them: means behind what they are of."""
        raw, found, resting = map(self._of, ("raw_embedding", "embedding", "resting"))
        for name in ("vectors/notes", "vectors/past"):
            for rows in paged(runner, name, _NOTES, scope=scope, raw=raw, after=""):
                texts = [text for row in rows for text in ("\n".join(row["raw"]), row["context"])]
                vectors = self._embedded(texts, embeds=embeds)
                stamps = (row["stamp"] for row in rows)
                given = zip(stamps, vectors[::2], vectors[1::2], strict=True)
                yield "notes", [{"stamp": stamp, "raw": one, "context": two} for stamp, one, two in given], len(texts)
        for rows in paged(runner, "vectors/keywords", _NAMES, scope=scope, found=found, resting=resting, after=""):
            yield self._texts("keywords", rows, [row["id"] if row["bare"] else "" for row in rows], embeds=embeds)
        for rows in paged(runner, "vectors/claims", _NAMES, scope=scope, found=found, after=""):
            yield self._texts("claims", rows, [row["text"] for row in rows], embeds=embeds)
        yield from self._topics(runner, scope, found)
        yield from self._blocks(runner, scope, found)

    def _of(self, name: str) -> str:
        """Return what the other set calls a property."""
        return of_set(name, self.of)

    def _embedded(self, texts: Sequence[str], *, embeds: bool) -> list[Any]:
        some = list(dict.fromkeys(texts)) if embeds else []
        known = dict(zip(some, map(packed, self.engine.embedder.embed_documents(some)), strict=True)) if some else {}
        return [known.get(text) for text in texts]

    def _texts(self, kind: str, rows: Sequence[Row], texts: Sequence[str], *, embeds: bool) -> Batch:
        """Return a batch of what has one text each; '' is of one that has its vector."""
        own = [text for text in texts if text]
        vectors = iter(self._embedded(own, embeds=embeds))
        made = [
            {"id": row["id"], "vector": next(vectors) if text else None} for row, text in zip(rows, texts, strict=True)
        ]
        return kind, made, len(own)

    def _topics(self, runner: Runner, scope: str, found: str) -> Iterator[Batch]:
        if not (rows := runner.run("vectors/topics", scope=scope, found=found)):
            return
        topic_of = {name: topic for name, topic in topics.members(runner, scope) if topic}
        middle = topics.middles(runner, scope, topic_of)
        if made := [{**row, "vector": packed(middle[row["id"]])} for row in rows if row["id"] in middle]:
            yield "topics", made, 0

    def _blocks(self, runner: Runner, scope: str, found: str) -> Iterator[Batch]:
        """Yield blocks with the means of their notes' vectors, in the order in which they are made of each other."""
        rows = runner.run("vectors/blocks", scope=scope, found=found)
        if not any(row["lacks"] for row in rows):
            return
        sums: dict[str, NDArray[np.float64]] = {}
        leaves, dimensions = [row["id"] for row in rows if not row["parts"]], self.engine.embedder.dimensions
        for start in range(0, len(leaves), _LEAVES):
            given = {"blocks": leaves[start : start + _LEAVES], "dimensions": dimensions}
            for row in runner.run("vectors/leaves", scope=scope, **given):
                vector = np.frombuffer(row["vector"].raw(), dtype=">f4").astype(np.float64)
                sums[row["block"]] = sums.get(row["block"], 0) + vector / np.linalg.norm(vector)
        made = []
        for row in rows:
            if parts := [sums[part] for part in row["parts"] if part in sums]:
                sums[row["id"]] = np.sum(parts, axis=0)
            length = float(np.linalg.norm(sums[row["id"]])) if row["id"] in sums else 0.0
            if row["lacks"] and length:
                mean = packed((sums[row["id"]] / length).astype(np.float32))
                made.append({"id": row["id"], "made_from": row["made_from"], "vector": mean})
        for start in range(0, len(made), _LEAVES):
            yield "blocks", made[start : start + _LEAVES], 0
