"""Another embedder for a memory in use: the time beside that of embedding alone, searches meanwhile, rankings after."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected
from memgraph_engine import Memory, Settings
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph import topics
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.model.scope import Scope
from memgraph_engine.worker.work import Worker

_WARM = 20  # questions before any time is taken
_TOP = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder before")
    parser.add_argument("--to", default="bge-small", help="the embedder after")
    parser.add_argument("--conversations", type=int, default=1, help="how many of the file's")
    parser.add_argument("--turns", type=int, default=300, help="of each, the first so many")
    parser.add_argument("--copies", type=int, default=1, help="how many users say them, each for himself")
    parser.add_argument("--times", action="store_true", help="the times of the change and of embedding alone")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure on servers of its own, whose data is removed; return flat figures and a report in Markdown."""
    every = islice(conversations(locomo_file(given.file)), given.conversations)
    first = [_first(one, given.turns) for one in every]
    some = [replace(one, id=f"{one.id}-{copy}") for copy in range(given.copies) for one in first]
    with _memory(given.model, some) as memory:
        texts = _texts(memory, some)
        memory.change_embedder(given.to, grace=0)
        begun = perf_counter()
        Worker(memory.engine).once()
        took = perf_counter() - begun
        alone = _embedding(memory, texts)
        notes = sum(1 for one in some for _ in memory.get_all(user_id=one.id))
        what = f"{len(texts):,} texts of {notes:,} notes: embedding alone, the change"
        rows = [(what, f"{alone:.1f} s, {took:.1f} s", f"{took / alone:.2f}")]
        if given.times:
            return {"re_embed_over_embedding": took / alone}, _report(given, rows)
        found = _ranked(memory, some)
        before = _p95(_times(memory, some))
        memory.change_embedder(given.model)
        during = _p95(_meanwhile(memory, some))
    with _memory(given.to, some) as memory:
        fresh = _ranked(memory, some)
    same = np.mean([one[:10] == other[:10] for one, other in zip(found, fresh, strict=True)])
    figures = {
        "re_embed_over_embedding": took / alone,
        "p95_while_over_before": during / before,
        "same_first_ten": float(same),
        **{
            f"r_at_{k}.{name}": _recall(of, some, k)
            for name, of in (("changed", found), ("fresh", fresh))
            for k in (10, 20)
        },
    }
    rows += [
        (
            "p95 of searches: before, while a worker fills",
            f"{before:.1f} ms, {during:.1f} ms",
            f"{during / before:.2f}",
        ),
        ("questions with the first ten sources of a fresh database", "", f"{100 * same:.1f} %"),
        *((f"R@{k}: changed, fresh", *_percent(figures, k)) for k in (10, 20)),
    ]
    return figures, _report(given, rows)


def _report(given: argparse.Namespace, rows: Sequence[Sequence[str]]) -> str:
    return f"### From {given.model} to {given.to}\n\n{table(('what', 'figures', 'ratio'), rows)}"


def _first(one: Conversation, turns: int) -> Conversation:
    """Return the beginning of a conversation, with the questions that it answers."""
    some = one.turns[:turns]
    known = {turn["id"] for turn in some}
    return replace(one, turns=some, questions=[question for question in one.questions if known >= {*question.evidence}])


def _percent(figures: dict[str, float], k: int) -> tuple[str, str]:
    one, other = (figures[f"r_at_{k}.{name}"] for name in ("changed", "fresh"))
    return f"{100 * one:.1f} %, {100 * other:.1f} %", f"{100 * (one - other):+.1f}"


@contextmanager
def _memory(model: str, some: Sequence[Conversation]) -> Iterator[Memory]:
    """Yield a memory of conversations on a server whose data is removed afterwards."""
    with TemporaryDirectory() as folder:
        settings = bench_settings(model).model_copy(update={"home": Path(folder) / "home"})
        with connected(settings) as memory:
            for one in some:
                memory.add_many(one.turns, user_id=one.id)
            yield memory


def _texts(memory: Memory, some: Sequence[Conversation]) -> list[str]:
    """Return all texts that have vectors."""
    engine = memory.engine
    scopes = [Scope(engine.settings.tenant, one.id).name for one in some]
    notes = [note for one in some for note in memory.get_all(user_id=one.id)]
    names = [name for scope in scopes for name, _ in topics.members(engine.db, scope)]
    return [text for note in notes for text in ("\n".join(note.raw), note.context)] + names


def _embedding(memory: Memory, texts: Sequence[str]) -> float:
    """Return the seconds that embedding takes, in calls as large as a worker's."""
    begun = perf_counter()
    for start in range(0, len(texts), 512):
        memory.engine.embedder.embed_documents(texts[start : start + 512])
    return perf_counter() - begun


def _ranked(memory: Memory, some: Sequence[Conversation]) -> list[list[str]]:
    """Return the ids of the sources that each question finds, the best first."""
    asked = ((question.text, one.id) for one in some for question in one.questions)
    every = (memory.search(text, user_id=user, top_k=_TOP) for text, user in asked)
    return [list(dict.fromkeys(source.id for hit in hits for source in hit.note.sources)) for hits in every]


def _recall(found: Sequence[Sequence[str]], some: Sequence[Conversation], k: int) -> float:
    evidence = [set(question.evidence) for one in some for question in one.questions]
    return float(np.mean([len(one & set(ids[:k])) / len(one) for one, ids in zip(evidence, found, strict=True)]))


def _times(memory: Memory, some: Sequence[Conversation], most: int = 300) -> Iterator[float]:
    """Yield how many ms each of many searches takes."""
    asked = cycle([(question.text, one.id) for one in some for question in one.questions])
    for number, (text, user) in enumerate(islice(asked, _WARM + most)):
        begun = perf_counter()
        memory.search(text, user_id=user)
        if number >= _WARM:
            yield 1000 * (perf_counter() - begun)


def _meanwhile(memory: Memory, some: Sequence[Conversation]) -> Iterator[float]:
    """Yield the times of searches for as long as a standing worker fills vectors."""
    with _worker(memory.engine.settings):
        while not memory.embedder().filled:
            pass
        while memory.embedder().state == "filling":
            yield from _times(memory, some, 20)


@contextmanager
def _worker(settings: Settings) -> Iterator[None]:
    address = LocalServer(settings).start()
    given = {"URI": address.uri, "PASSWORD": address.password, "EMBEDDER": ""}
    environment = {**os.environ, **{f"MEMGRAPH_ENGINE_{name}": value for name, value in given.items()}}
    with subprocess.Popen([sys.executable, "-m", "memgraph_engine", "worker"], env=environment) as process:
        try:
            yield
        finally:
            process.terminate()


def _p95(times: Iterator[float]) -> float:
    return float(np.quantile(list(times), 0.95))
