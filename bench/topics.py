"""Topics: partition and bounds against other engines, steadiness, and the whole job on a planted keyword graph.

Partition and bounds are also measured on the keyword graph of each conversation of LoCoMo [`locomo.*`]: the median
of the ratios of time, the worst of the others.
"""

import argparse
import resource
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from time import perf_counter
from uuid import uuid4

import numpy as np

from bench.conversations import conversations, locomo_file
from bench.observations import LANGUAGE, FiledEmbedder
from bench.planted import Planted, grown, planted
from bench.server import bench_settings, connected
from memgraph_engine import Memory
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph import writes
from memgraph_engine.graph.database import Row
from memgraph_engine.graph.scopes import open_scope
from memgraph_engine.graph.writes import named
from memgraph_engine.ingest.construct import Constructor, place
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.model.candidate import Keyword
from memgraph_engine.model.ports import Network
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge
from memgraph_engine.topics.difference import match
from memgraph_engine.topics.engines import engine_named
from memgraph_engine.topics.measures import Membership, modularity, network
from memgraph_engine.topics.partition import Bounds, partition

_NEW = 0.01  # share of notes that are new when steadiness is measured
_ROWS = 10_000


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--keywords", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=7, help="of the generator and the engines")
    parser.add_argument("--model", default="minilm", help="the embedder, by which the database is named")
    parser.add_argument("--without-job", action="store_true", help="leave the database out")
    parser.add_argument("--without-leidenalg", action="store_true", help="leave the slowest engine out")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    made = planted(given.keywords, given.edges, given.seed)
    bounds = Bounds.of(given.keywords)
    figures, rows = _engines(made.graph, bounds, given.seed, leidenalg=not given.without_leidenalg)
    figures |= steadiness(made, bounds, given.seed)
    figures |= _conversations(given.file, given.model, given.seed)
    if not given.without_job:
        figures |= _job(made.graph, given.model)
    head = ("engine", "partition s", "modularity", "bounded", "topics", "largest")
    flat = table(("figure", "value"), [(name, f"{value:.4g}") for name, value in sorted(figures.items())])
    title = f"### {given.keywords:,} keywords, {made.graph.edges:,} edges, sizes {bounds.smallest} to {bounds.largest}"
    return figures, f"{title}\n\n{table(head, rows)}\n\n{flat}"


def _engines(
    graph: Network, bounds: Bounds, seed: int, *, leidenalg: bool
) -> tuple[dict[str, float], list[Sequence[object]]]:
    rows: list[Sequence[object]] = []
    seconds, before, after, broken = {}, {}, {}, 0
    for name in ("graspologic-native", "igraph", *(["leidenalg"] if leidenalg else [])):
        engine = engine_named(name)
        start = perf_counter()
        engine.partition(graph, resolution=1.0, seed=seed)
        seconds[name] = perf_counter() - start
        found = partition(graph, engine, bounds, seed=seed)
        before[name], after[name] = found.before, found.after
        broken += bounds.broken(found.membership)
        largest = int(np.bincount(found.membership[found.membership >= 0]).max())
        cells = (f"{seconds[name]:.1f}", f"{found.before:.4f}", f"{found.after:.4f}")
        rows.append((name, *cells, found.topics, largest))
    ours = "graspologic-native"
    figures = {
        "partition_over_igraph_time": seconds[ours] / seconds["igraph"],
        "modularity_over_igraph": before[ours] / before["igraph"],
        "out_of_bounds": float(broken),
    }
    if leidenalg:
        figures["bounded_over_leidenalg"] = after[ours] / after["leidenalg"]
    return figures, rows


def _conversations(file: Path | None, model: str, seed: int) -> dict[str, float]:
    found = [_engines(graph, Bounds.of(graph.nodes), seed, leidenalg=True)[0] for graph in _graphs(file, model)]
    worst: dict[str, Callable[[Iterable[float]], float]] = {
        "partition_over_igraph_time": median,
        "modularity_over_igraph": min,
        "bounded_over_leidenalg": min,
        "out_of_bounds": sum,
    }
    return {f"locomo.{name}": of([one[name] for one in found]) for name, of in worst.items()}


def _graphs(file: Path | None, model: str) -> Iterator[Network]:
    """Yield each conversation's keyword graph, of its turns as they are without a model."""
    embedder = FiledEmbedder(model)
    constructor = Constructor(CheckedEmbedder(embedder), 8)
    for conversation in conversations(locomo_file(file)):
        sources = [parse_message(turn, turn["id"], timezone="UTC", max_text=65536) for turn in conversation.turns]
        made = constructor.construct(place(sources, {}), {}, LANGUAGE)
        carried = [sorted({keyword.name for keyword in candidate.keywords}) for candidate in made]
        number = {name: place for place, name in enumerate(sorted({name for names in carried for name in names}))}
        pairs = Counter(pair for names in carried for pair in combinations(names, 2))
        yield network(len(number), [(number[a], number[b], float(count)) for (a, b), count in pairs.items()])
    embedder.keep()


def steadiness(made: Planted, bounds: Bounds, seed: int) -> dict[str, float]:
    """Return how many keywords that no new note carries keep their id, and what that costs in modularity."""
    engine = engine_named("graspologic-native")
    first = partition(made.graph, engine, bounds, seed=seed).membership
    more, untouched = grown(made, _NEW, seed)
    start = np.concatenate([first, np.full(more.graph.nodes - made.graph.nodes, -1)])
    limits = Bounds.of(more.graph.nodes)
    warm = partition(more.graph, engine, limits, seed=seed, start=start).membership
    cold = partition(more.graph, engine, limits, seed=seed).membership
    return {
        "stable_share": _kept(start, warm, untouched),
        "stable_share.cold": _kept(start, cold, untouched),
        "warm_over_cold": modularity(more.graph, warm) / modularity(more.graph, cold),
    }


def _kept(before: Membership, after: Membership, untouched: np.ndarray) -> float:
    old = [None if topic < 0 else str(topic) for topic in before.tolist()]
    found = match(old, after.tolist(), [f"new {i}" for i in range(int(after.max()) + 1)])
    same = Counter(
        (found.ids[new] if new >= 0 else None) == topic
        for topic, new, counted in zip(old, after.tolist(), untouched.tolist(), strict=True)
        if counted
    )
    return same[True] / same.total()


def _job(graph: Network, model: str) -> dict[str, float]:
    """Write the graph into a database, and run the whole job on it twice: without topics, and with them."""
    settings = bench_settings(model)
    settings = settings.model_copy(
        update={"tenant": f"topics-{uuid4().hex}", "home": settings.home.with_name(f"{model}-topics")}
    )
    with connected(settings) as memory:
        try:
            _fill(memory, graph)
            start = perf_counter()
            first = memory.rebuild_topics(user_id="ana")
            seconds = perf_counter() - start
            start = perf_counter()
            memory.rebuild_topics(user_id="ana")
            again = perf_counter() - start
        finally:
            purge(settings.tenant, settings=settings)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    phases = {f"job_s.{phase}": value for phase, value in first.seconds.items()}
    return {"job_s": seconds, "job_again_s": again, "peak_memory_mb": peak, **phases}


def _fill(memory: Memory, graph: Network) -> None:
    scope = Scope(memory.engine.settings.tenant, "ana")
    open_scope(memory.engine.db, scope, "english")
    vectors = np.random.default_rng(1).normal(size=(graph.nodes, memory.engine.embedder.dimensions))
    names = [f"keyword {number:07}" for number in range(graph.nodes)]
    for start in range(0, graph.nodes, _ROWS):
        part = range(start, min(start + _ROWS, graph.nodes))
        _write(memory, scope, {"name": [named(Keyword(names[i], names[i], vectors[i])) for i in part]})
    edges = list(zip(graph.a.tolist(), graph.b.tolist(), graph.weight.astype(int).tolist(), strict=True))
    for start in range(0, len(edges), _ROWS):
        rows = [{"a": names[a], "b": names[b], "change": n} for a, b, n in edges[start : start + _ROWS]]
        _write(memory, scope, {"pair": rows})


def _write(memory: Memory, scope: Scope, what: Mapping[str, Sequence[Row]]) -> None:
    version = memory.stats(user_id=scope.user).version
    assert writes.commit(memory.engine.db, scope.name, version, memory.engine.now(), what)
