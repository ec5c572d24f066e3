"""Blocks: evidence at equal tokens by blocks, by the default search and by plain RAG, and what the tree costs."""

import argparse
import json
import re
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track

from bench.conversations import conversations, locomo_file
from bench.pathways import of
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory
from memgraph_engine.asking.remembered import most_blocks
from memgraph_engine.blocks import linkage
from memgraph_engine.blocks.linkage import average_linkage, normalised
from memgraph_engine.blocks.reading import scored, selected
from memgraph_engine.blocks.tree import Placed, tree
from memgraph_engine.evaluation.locomo import Conversation, Question
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after
from memgraph_engine.graph import blocks as block_graph
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.model.block import LONGEST, Block

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (500, 1000, 2000, 4000)
_K = 10
_LINKED = 2000  # vectors at which SciPy's linkage is compared
_NEW = 0.01
_WAYS = ("blocks", "search", "rag", "rag_context")
_FOUND = 200  # notes of a search: more than the largest size has room for
_ROWS = 1000  # messages in a call
_SEARCHES = 200
_BUDGET = 1000  # tokens of a context
_CONTEXTS = 5  # of so many questions one is asked for contexts
_PART = 32  # leaves of a part, where few are divided as many would be
_CHANNEL = {"switched": {"blocks": True}}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--leaves", type=int, default=20_000, help="of the tree whose job is timed; 0 leaves it out")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--without-conversations", action="store_true", help="measure the tree alone")
    parser.add_argument("--only-job", action="store_true", help=argparse.SUPPRESS)


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    if given.only_job:
        print(json.dumps(_timed(given.leaves, given.seed)))
        raise SystemExit
    figures = _linked(given.seed)
    figures |= _kept(given.seed)
    if given.leaves:
        figures |= _alone(given.leaves, given.seed)
    pages = []
    if not given.without_conversations:
        with connected(bench_settings(given.model)) as memory, of_its_own(memory) as mine:
            found, page = _conversations(mine, list(conversations(locomo_file(given.file))))
        figures |= found
        pages.append(page)
    pages.append(table(("figure", "value"), [(name, f"{value:.4g}") for name, value in sorted(figures.items())]))
    return figures, "\n\n".join(pages)


# ---- the tree alone -------------------------------------------------------------------------


def _crowd(n: int, seed: int, dimensions: int = 384) -> "NDArray[np.float64]":
    """Return vectors in clusters within clusters, all a little alike, as those of texts are."""
    chance = np.random.default_rng(seed)
    common = chance.normal(size=dimensions)
    large = chance.normal(size=(max(n // 500, 1), dimensions))
    small = chance.normal(size=(max(n // 20, 1), dimensions))
    of = chance.integers(0, len(small), n)
    within = chance.integers(0, len(large), len(small))
    return common + large[within[of]] + small[of] + chance.normal(size=(n, dimensions))


def _linked(seed: int) -> dict[str, float]:
    """Tell whether the dendrogram is SciPy's: the same clusters, at the same distances."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    vectors = _crowd(_LINKED, seed)
    ours, theirs = average_linkage(vectors), linkage(pdist(vectors, "cosine"), "average")
    found = _clusters(ours.pairs, ours.heights)
    expected = _clusters(theirs[:, :2], theirs[:, 2])
    same = found.keys() == expected.keys() and all(abs(found[one] - expected[one]) < 1e-8 for one in found)
    return {"equal_to_scipy": float(same)}


def _clusters(pairs: "NDArray[np.float64] | NDArray[np.int64]", heights: "NDArray[np.float64]") -> dict[int, float]:
    """Return each cluster as the set of its members, in bits, with its height."""
    members = [1 << one for one in range(len(pairs) + 1)]
    for a, b in np.asarray(pairs, dtype=int).tolist():
        members.append(members[a] | members[b])
    return dict(zip(members[len(pairs) + 1 :], heights.tolist(), strict=True))


def _talks(sessions: int, seed: int, *, turns: int = 20, run: int = 5, dimensions: int = 384) -> "NDArray[np.float64]":
    """Return the vectors of sessions that tell of four subjects, one after the other; all subjects are in groups."""
    chance = np.random.default_rng(seed)
    subjects = 2 * sessions
    groups = chance.normal(size=(max(subjects // 25, 1), dimensions))
    middles = groups[chance.integers(0, len(groups), subjects)] + chance.normal(size=(subjects, dimensions))
    of = np.repeat(chance.integers(0, subjects, sessions * turns // run), run)
    return chance.normal(size=dimensions) + middles[of] + chance.normal(size=(sessions * turns, dimensions))


def _kept(seed: int, sessions: int = 400, turns: int = 20) -> dict[str, float]:
    """Return which share of the nodes stays where one in a hundred notes is new, in sessions of their own."""
    every = _talks(sessions, seed, turns=turns)
    notes = [Placed(f"n{at:06}", f"s{at // turns:05}", at % turns, at, 1) for at in range(len(every))]
    first = int(len(every) * (1 - _NEW))
    before, whole = tree("s", notes[:first], every[:first]), tree("s", notes, every)
    there = {node.id for node in whole.nodes}
    return {
        "kept_share": fmean(node.id in there for node in before.nodes),
        "kept_share.inner": fmean(node.id in there for node in before.nodes if node.level),
    }


def _alone(leaves: int, seed: int) -> dict[str, float]:
    """Time the job in a process of its own, whose peak of memory is that of the job."""
    command = [sys.executable, "-m", "bench", "blocks", "--only-job", "--leaves", str(leaves), "--seed", str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


class _Planted:
    """An embedder of planted vectors: the text is the number of one."""

    name = "planted"

    def __init__(self, vectors: "NDArray[np.float32]") -> None:
        self._vectors = vectors

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        found = re.search(r"\d+", text)
        vector: NDArray[np.float32] = self._vectors[int(found[0]) % len(self._vectors) if found else 0]
        return vector


def _timed(leaves: int, seed: int) -> dict[str, float]:
    """Write notes, each in a session of its own, and run the job on them twice; search before and after."""
    settings = bench_settings("planted")
    gate = settings.gate.model_copy(update={"update": False})
    settings = settings.model_copy(update={"gate": gate, "max_keywords": 0, "language": "standard"})
    embedder = _Planted(_crowd(leaves, seed).astype(np.float32))
    with connected(settings, embedder) as shared, of_its_own(shared) as memory:
        for start in range(0, leaves, _ROWS):
            some = range(start, min(start + _ROWS, leaves))
            memory.add_many([{"text": f"Number {at}.", "session": f"s{at}"} for at in some], user_id="ana")
        start_ = perf_counter()
        first = memory.rebuild_blocks(user_id="ana")
        seconds = perf_counter() - start_
        start_ = perf_counter()
        memory.rebuild_blocks(user_id="ana")
        again = perf_counter() - start_
        searches = _search_s({"without": memory, "with": of(memory, _CHANNEL)}, leaves)
    return {
        "job_s": seconds,
        "job_again_s": again,
        "job_leaves": float(first.leaves),
        "depth": float(first.depth),
        "recall_with_blocks_over_without": searches["with"] / searches["without"],
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        **{f"job_s.{phase}": value for phase, value in first.seconds.items()},
    }


def _search_s(memories: Mapping[str, Memory], leaves: int) -> dict[str, float]:
    """Return the median seconds of each one's searches, asked in turns, of those behind the first that warm it up."""
    taken: dict[str, list[float]] = {name: [] for name in memories}
    for at in range(0, leaves, max(leaves // _SEARCHES, 1)):
        for name, memory in memories.items():
            start = perf_counter()
            memory.search(f"Number {at}?", user_id="ana")
            taken[name].append(perf_counter() - start)
    return {name: median(some[len(some) // 2 :]) for name, some in taken.items()}


# ---- conversations --------------------------------------------------------------------------


def _conversations(memory: Memory, every: Sequence[Conversation]) -> tuple[dict[str, float], str]:
    found: dict[str, list[float]] = defaultdict(list)
    for conversation in every:
        memory.add_many(conversation.turns, user_id=conversation.id)
        ended = after(conversation, memory)
        start = perf_counter()
        ended.rebuild_blocks(user_id=conversation.id)
        found["conversation_job_s"].append(perf_counter() - start)
        asking = _Asking(ended, conversation.id)
        for at, question in enumerate(track(conversation.questions, conversation.id, console=Console(stderr=True))):
            for name, value in asking.figures(question, contexts=at % _CONTEXTS == 0).items():
                found[name].append(value)
        asking.divide()
        for question in conversation.questions:
            for size in SIZES:
                found[f"divided.evidence@{size}"].append(asking.by_blocks(question, size))
    figures = {name: fmean(values) for name, values in found.items()}
    for size in SIZES:
        ours, plain = figures[f"blocks.evidence@{size}"], figures[f"rag.evidence@{size}"]
        figures[f"blocks.evidence@{size}_over_rag"] = ours / plain
    figures["branch_over_naive"] = figures["branch.evidence@2000"] / figures["naive.evidence@2000"]
    figures["blocks_over_search_time"] = median(found["blocks_s"]) / median(found["search_s"])
    figures["largest_block"] = max(found["largest_block"])
    for name in ("blocks_s", "search_s"):
        del figures[name]
    ways = (*_WAYS, "branch", "naive", "divided")
    rows = [(way, *(f"{figures[f'{way}.evidence@{size}']:.1f}" for size in SIZES)) for way in ways]
    return figures, table(("% of the evidence, in tokens", *map(str, SIZES)), rows)


class _Asking:
    """Asks one conversation, whose notes it knows: which turns each tells, what it costs, and both of its vectors."""

    def __init__(self, memory: Memory, user: str) -> None:
        self._memory, self._user = memory, user
        self._scopes = [f"{memory.engine.settings.tenant}/{user}"]
        notes = list(memory.get_all(user_id=user))
        self._ids = [note.id for note in notes]
        self._tokens = {note.id: most_tokens("\n".join(note.raw)) + 1 for note in notes}
        self._turns = {note.id: {source.id for source in note.sources} for note in notes}
        self._raw = normalised(memory.engine.embedder.embed_documents(["\n".join(note.raw) for note in notes]))
        vectors = memory.vectors(user_id=user)
        self._context = normalised(np.stack([vectors[one] for one in self._ids]))

    def divide(self) -> None:
        """Build the tree anew as one of very many leaves is, in parts of few."""
        engine = self._memory.engine
        blocks = engine.settings.blocks.model_copy(update={"exact": _PART})
        settings = engine.settings.model_copy(update={"blocks": blocks})
        part, linkage._PART = linkage._PART, _PART
        try:
            assert not Memory(replace(engine, settings=settings)).rebuild_blocks(user_id=self._user).exact
        finally:
            linkage._PART = part

    def by_blocks(self, question: Question, size: int) -> float:
        """Return which share of the evidence the notes of the blocks tell that are chosen for a size in tokens."""
        engine = self._memory.engine
        vector = engine.embedder.embed_query(question.text)
        chosen = selected(engine, self._scopes, vector, most_blocks(size))
        order = [note.id for note, _ in scored(engine, self._scopes, vector, chosen)]
        return _share(self._within(order, size), question)

    def figures(self, question: Question, *, contexts: bool) -> dict[str, float]:
        engine = self._memory.engine
        vector = engine.embedder.embed_query(question.text)
        start = perf_counter()
        hits = self._memory.search(question.text, user_id=self._user, top_k=_FOUND)
        searched = perf_counter()
        scored(engine, self._scopes, vector, selected(engine, self._scopes, vector, _K))
        figures = {"search_s": searched - start, "blocks_s": perf_counter() - searched}
        chosen = selected(engine, self._scopes, vector, _K)
        nearest, _ = block_graph.search(engine.db, self._scopes, vector, least=LONGEST, limit=_K)
        orders = {
            "search": [hit.note.id for hit in hits],
            "rag": self._nearest(self._raw, vector),
            "rag_context": self._nearest(self._context, vector),
            "branch": self._told(chosen, vector),
            "naive": self._told(nearest, vector),
        }
        for size in SIZES:
            figures[f"blocks.evidence@{size}"] = self.by_blocks(question, size)
            for way, order in orders.items():
                figures[f"{way}.evidence@{size}"] = _share(self._within(order, size), question)
        for by in ("notes", "blocks") if contexts else ():
            context = self._memory.context(question.text, user_id=self._user, budget=_BUDGET, top_k=100, by=by)
            told = {source.id for entry in context.entries for source in entry.sources}
            figures[f"context.{by}.evidence@{_BUDGET}"] = _share(told, question)
        figures["inner_share"] = fmean(block.level > 0 for block in chosen)
        figures["largest_block"] = float(max(block.notes for block in chosen))
        return figures

    def _nearest(self, vectors: "NDArray[np.float64]", vector: "NDArray[np.float32]") -> list[str]:
        return [self._ids[at] for at in np.argsort(-(vectors @ vector), kind="stable")]

    def _told(self, blocks: Sequence[Block], vector: "NDArray[np.float32]") -> list[str]:
        """Return the notes of blocks, each block's nearest first; a note of several blocks comes several times."""
        engine = self._memory.engine
        held = block_graph.members(engine.db, self._scopes, [(one.scope, one.id) for one in blocks], vector, LONGEST)
        stamps = sorted({stamp for one in held.values() for stamp in one})
        notes, _ = engine.notes.read(engine.db, self._scopes, stamps, engine.embedder.dimensions)
        near = dict(zip(self._ids, (self._context @ vector).tolist(), strict=True))
        told = ([notes[stamp].id for stamp in held[block.scope, block.id]] for block in blocks)
        return [note for some in told for note in sorted(some, key=lambda one: -near[one])]

    def _within(self, order: Iterable[str], size: int) -> set[str]:
        """Return the turns that notes tell, as many as have room."""
        told: set[str] = set()
        for note in order:
            if self._tokens[note] <= size:
                size -= self._tokens[note]
                told |= self._turns[note]
        return told


def _share(told: Collection[str], question: Question) -> float:
    return 100 * len(set(question.evidence) & set(told)) / len(set(question.evidence))
