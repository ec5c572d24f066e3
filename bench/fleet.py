"""Bulk ingest on Ray: one process beside one worker and two, a kill and a lost node, and many machines on paper."""

import argparse
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import psutil

from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected
from memgraph_engine import Memory, Settings
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph import sources
from memgraph_engine.model.ingested import Brought
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge

Said = list[tuple[str, dict[str, Any]]]
_MACHINES = (1, 10, 100)
_CORES = 8


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--users", type=int, default=8, help="how many users say it, each in a memory of his own")
    parser.add_argument("--turns", type=int, default=64, help="how many turns of a conversation each says")
    parser.add_argument("--batch", type=int, default=16, help="messages in a transaction")
    parser.add_argument("--kills", action="store_true", help="only what a kill and a lost node cost")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure on a server of its own, whose data is removed; return flat figures and a report in Markdown."""
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  that of the process beside them
    said = _said(given)
    with TemporaryDirectory() as folder:
        settings = bench_settings(given.model, ingest_batch=given.batch).model_copy(
            update={"home": Path(folder) / "home"}
        )
        with connected(settings) as memory:
            at = memory.engine.db.at
            reached = Settings.load(
                **{**settings.model_dump(), "uri": at.uri, "user": at.user, "password": at.password}
            )
            _alone(reached, said[: given.batch])  # the server's plans, the model's file
            figures, graph = _alone(reached, said)
            if not given.kills:
                for workers in (1, 2):
                    figures |= _fleet(reached, said, graph, workers)
                figures["two_workers_over_one_process"] = figures["one_process_s"] / figures["2_workers_s"]
                figures["overhead_of_one_worker"] = figures["1_workers_s"] / figures["one_process_s"] - 1
            figures |= _killed(reached, said, graph)
            figures |= _node_lost(reached, said, graph)
    rows = [(name, f"{value:,.3f}") for name, value in figures.items()]
    model = "" if given.kills else f"\n\n{_on_paper(figures)}"
    return figures, f"### {len(said):,} messages of {given.users} users\n\n{table(('what', 'figure'), rows)}{model}"


def _said(given: argparse.Namespace) -> Said:
    """Return what users say in turn."""
    some = [one.turns for one in conversations(locomo_file(given.file))]
    turns = [islice(some[at % len(some)], given.turns) for at in range(given.users)]
    return [(f"user-{at}", message) for many in zip(*turns, strict=False) for at, message in enumerate(many)]


@contextmanager
def _tenant(settings: Settings) -> Iterator[Settings]:
    one = settings.model_copy(update={"tenant": "bench-fleet"})  # the same each time: ids of notes hold it
    try:
        yield one
    finally:
        purge(one.tenant, settings=one)


def _alone(settings: Settings, said: Said) -> tuple[dict[str, float], list[Any]]:
    """Let one process do it; return its figures and the graph."""
    from memgraph_engine.fleet.bulk import bring

    with _tenant(settings) as one, Memory.connect(settings=one) as memory:
        _ = memory.engine.embedder.embed_query("The model is loaded.")
        before, server, begun = psutil.Process().cpu_times(), _server_cpu(settings), perf_counter()
        bring(memory, said)
        took, own = perf_counter() - begun, _used(before)
        figures = {
            "one_process_s": took,
            "one_process_cpu_ms": 1000 * own / len(said),
            "one_process_database_cpu_ms": 1000 * (_server_cpu(settings) - server) / len(said),
            "one_process_mb": _mb(psutil.Process()),
        }
        return figures, _graph(memory, said)


def _fleet(settings: Settings, said: Said, graph: list[Any], workers: int) -> dict[str, float]:
    """Let workers do it on this machine; return the figures."""
    from memgraph_engine import fleet
    from memgraph_engine.fleet.bulk import bring

    begun = perf_counter()
    with _tenant(settings) as one, fleet.over(one, workers=workers) as memory:
        started = perf_counter() - begun
        actors = memory.engine.spread
        some = {"prepare": _processes(actors.preparers), "load": _processes(actors.loaders)}  # type: ignore[attr-defined]
        before = {name: sum(map(_cpu, processes)) for name, processes in some.items()}
        own, server, begun = psutil.Process().cpu_times(), _server_cpu(settings), perf_counter()
        bring(memory, said)
        took = perf_counter() - begun
        cpu = {name: sum(map(_cpu, processes)) - before[name] for name, processes in some.items()}
        used = {**cpu, "read": _used(own), "database": _server_cpu(settings) - server}
        memory_mb = sum(_mb(process) for processes in some.values() for process in processes) / workers
        equal = _graph(memory, said) == graph
    return {
        f"{workers}_workers_start_s": started,
        f"{workers}_workers_s": took,
        f"{workers}_workers_mb_a_worker": memory_mb,
        f"{workers}_workers_graph_equal": equal,
        **{f"{workers}_workers_{name}_cpu_ms": 1000 * seconds / len(said) for name, seconds in used.items()},
    }


def _killed(settings: Settings, said: Said, graph: list[Any]) -> dict[str, float]:
    """Kill a preparer and a loader in the middle."""
    from memgraph_engine import fleet

    with _tenant(settings) as one, fleet.over(one, workers=2) as memory:
        actors: Any = memory.engine.spread
        processes = [_processes(some)[0].pid for some in (actors.preparers, actors.loaders)]

        def kill() -> None:
            for process in processes:
                os.kill(process, signal.SIGKILL)

        return _disturbed("killed", memory, said, graph, kill)


def _node_lost(settings: Settings, said: Said, graph: list[Any]) -> dict[str, float]:
    """Remove one of three nodes in the middle."""
    import ray
    from ray.cluster_utils import Cluster

    from memgraph_engine import fleet

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False)
        with _tenant(settings) as one, fleet.over(one, workers=3) as memory:
            return _disturbed("node_lost", memory, said, graph, lambda: cluster.remove_node(nodes[0]))
    finally:
        ray.shutdown()
        cluster.shutdown()


def _disturbed(
    name: str, memory: Memory, said: Said, graph: list[Any], disturb: Callable[[], object]
) -> dict[str, float]:
    from memgraph_engine.fleet.bulk import bring

    told, begun = list[float](), perf_counter()

    def half(done: Brought) -> None:
        if not told and sum(done.users.values()) >= len(said) // 3:
            told.append(perf_counter())
            disturb()

    bring(memory, said, half)
    took = perf_counter() - begun
    assert told
    engine, given = memory.engine, defaultdict[str, set[str]](set)
    for user, message in said:
        given[user].add(message["id"])
    scopes = {user: Scope(engine.settings.tenant, user).name for user in given}
    stored = {user: len(sources.known(engine.db, scopes[user], ids)) for user, ids in given.items()}
    return {
        f"{name}_s": took,
        f"{name}_graph_equal": _graph(memory, said) == graph,
        f"{name}_lost": sum(len(ids) - stored[user] for user, ids in given.items()),
        f"{name}_doubled": sum(memory.stats(user_id=user).sources - stored[user] for user in given),
    }


def _on_paper(figures: dict[str, float]) -> str:
    """Return what many machines would do, by the processor time of the parts; the database has a machine of its own."""
    cpu = {name: figures[f"2_workers_{name}_cpu_ms"] for name in ("read", "prepare", "load", "database")}
    rows = []
    for machines in _MACHINES:
        rates = {
            "the workers": 1000 * _CORES * machines / (cpu["prepare"] + cpu["load"]),
            "the database": 1000 * _CORES / cpu["database"],
            "the reader": 1000 / cpu["read"],
        }
        least = min(rates, key=lambda name: rates[name])
        rows.append((machines, *(f"{rate:,.0f}" for rate in rates.values()), f"{rates[least]:,.0f}: {least}"))
    return table((f"machines of {_CORES} cores", "workers", "database", "reader", "messages a second"), rows)


def _graph(memory: Memory, said: Said) -> list[Any]:
    """Return the notes of all users and the sums of their memories, without the moments at which they were written."""
    found = list[Any]()
    for user in sorted({user for user, _ in said}):
        stats = memory.stats(user_id=user)
        found.append((stats.notes, stats.sources, stats.keywords, stats.pairs, stats.decisions, stats.past))
        found += sorted(
            (one.id, one.raw, one.context, one.status, sorted(one.keywords), [source.id for source in one.sources])
            for one in memory.get_all(user_id=user)
        )
    return found


def _processes(actors: Sequence[Any]) -> list[psutil.Process]:
    import ray

    return [psutil.Process(one) for one in ray.get([actor.process.remote() for actor in actors])]


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _used(before: Any) -> float:
    return _cpu(psutil.Process()) - float(before.user + before.system)


def _mb(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 1e6


def _server_cpu(settings: Settings) -> float:
    """Return the processor time that the managed server has used."""
    (server,) = (one for one in psutil.process_iter(["cmdline"]) if _serves(one.info["cmdline"] or (), settings))
    return _cpu(server)


def _serves(command: Sequence[str], settings: Settings) -> bool:
    return "java" in command[:1][0] if command and str(settings.home) in " ".join(command) else False
