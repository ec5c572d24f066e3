"""The online path beside the claims job: searches and additions of other users while another process consolidates."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count, cycle, islice
from time import perf_counter
from uuid import uuid4

from bench import fillers
from bench.server import bench_settings, connected
from bench.speed import Known, percentile
from memgraph_engine import Memory
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings
from memgraph_engine.testing import purge
from memgraph_engine.worker.work import give_way, pausing

_READ = 5000  # notes of the memory that is consolidated, again and again as if no run had read them
_ONLINE = 2000  # notes of the memory that is asked and written to
_ASKED = 300  # questions, and as many additions, in each measurement
_GOING = "reading"
_JOB = "job"


def measured(model: str, every: Sequence[Conversation]) -> dict[str, float]:
    """Time searches and additions in turns: without the job, beside it, and without it again."""
    settings = bench_settings(model).model_copy(update={"tenant": f"bench-{uuid4().hex}"})
    with connected(settings) as memory:
        mine = Memory(replace(memory.engine, embedder=CheckedEmbedder(Known(memory.engine.embedder))))
        try:
            return _measured(mine, every)
        finally:
            purge(settings.tenant, settings=settings)


def _measured(memory: Memory, every: Sequence[Conversation]) -> dict[str, float]:
    made, tenant = fillers.originals(memory, every), memory.engine.settings.tenant
    fillers.fill_one(memory, Scope(tenant, _JOB), made, _READ, seed=0)
    fillers.fill_one(memory, Scope(tenant, "online"), made, _ONLINE, seed=1)
    questions = [question.text for conversation in every for question in conversation.questions][:_ASKED]
    texts = [str(turn["text"]) for turn in every[0].turns][:_ASKED]
    online = _Online(memory, questions, texts)
    print(f"{_READ + _ONLINE:,} notes are there; now they are asked.", file=sys.stderr)
    online.ask(_ASKED)  # to warm up: vectors, caches, plans
    before = online.ask(_ASKED)
    with _job(memory.engine.settings):
        beside = online.ask(_ASKED)
    after = online.ask(_ASKED)
    figures: dict[str, float] = {}
    for name, taken in beside.items():
        alone = percentile(sorted(before[name] + after[name]), 0.95)
        figures[f"{name}_p95_alone_ms"] = alone
        figures[f"{name}_p95_beside_ms"] = percentile(sorted(taken), 0.95)
        figures[f"{name}_p95_while_consolidating"] = figures[f"{name}_p95_beside_ms"] / alone
        figures[f"{name}_p95_again"] = _spread(before[name], after[name])
    figures["p95_while_consolidating"] = max(figures[f"{name}_p95_while_consolidating"] for name in beside)
    return figures


def _spread(before: Sequence[float], after: Sequence[float]) -> float:
    """Return by how much the two measurements without the job differ, the larger over the smaller."""
    first, second = (percentile(sorted(some), 0.95) for some in (before, after))
    return max(first, second) / min(first, second)


class _Online:
    """Asks and adds in turns, and says what each took in milliseconds, embedding left out."""

    def __init__(self, memory: Memory, questions: Sequence[str], texts: Sequence[str]) -> None:
        self._memory, self._numbers = memory, count()
        self._pairs = cycle(zip(questions, texts, strict=False))
        for question in questions:
            memory.engine.embedder.embed_query(question)

    def ask(self, times: int) -> Mapping[str, list[float]]:
        taken: dict[str, list[float]] = {"search": [], "add": []}
        for question, text in islice(self._pairs, times):
            message = {"id": f"said-{next(self._numbers)}", "text": text, "session": "now", "role": "user"}
            works: tuple[tuple[str, Callable[[], object]], ...] = (
                ("search", partial(self._memory.search, question, user_id="online")),
                ("add", partial(self._memory.add, message, user_id="online")),
            )
            for name, work in works:
                begun = perf_counter()
                work()
                taken[name].append((perf_counter() - begun) * 1000)
        return taken


@contextmanager
def _job(settings: Settings) -> Iterator[None]:
    """Let another process consolidate, as a worker would, for as long as the block takes."""
    command = [sys.executable, "-m", "bench.beside", settings.embedder, settings.tenant]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        try:
            if job.stdout.readline().strip() != _GOING:
                raise SystemExit("The job did not begin.")
            yield
            if job.poll() is not None:
                raise SystemExit(f"The job ended before it was to, with {job.returncode}.")
        finally:
            job.terminate()


def _consolidate(model: str, tenant: str) -> None:
    """Consolidate a memory until it is ended; say when it begins."""
    settings = bench_settings(model).model_copy(update={"tenant": tenant})
    give_way()  # as a standing worker does, here and between two pages
    pause = pausing(lambda: False)

    def paused(_phase: str) -> None:
        pause()

    with Memory.connect(settings=settings) as memory, memory.engine.db._session() as session:
        print(_GOING, flush=True)
        while True:
            read = memory.consolidate(user_id=_JOB, progress=paused).notes
            assert read == _READ, f"a run read {read:,} of {_READ:,} notes"
            unread = "MATCH (n:Note {scope: $scope}) REMOVE n.abstracted"
            session.run(unread, scope=Scope(tenant, _JOB).name).consume()


if __name__ == "__main__":
    _consolidate(*sys.argv[1:])
