"""A run in its folder: what it is of, what is known, what it will cost, its report."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memgraph_engine.client import Memory
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.engine.wiring import purge
from memgraph_engine.errors import InvalidInput, needed
from memgraph_engine.evaluation import plots
from memgraph_engine.evaluation.answering import Answering, Patience
from memgraph_engine.evaluation.estimate import Estimate, estimate
from memgraph_engine.evaluation.experiment import Experiment, identity, same_run
from memgraph_engine.evaluation.kept import Journal, KeptChat, KeptEmbedder, Replies
from memgraph_engine.evaluation.report import report
from memgraph_engine.evaluation.run import STORED, Run
from memgraph_engine.evaluation.summary import Summary
from memgraph_engine.evaluation.variants import without_models
from memgraph_engine.evaluation.wording import require_measures
from memgraph_engine.model.ports import ChatModel
from memgraph_engine.settings import Settings

_RESULTS = "results.jsonl"


@dataclass
class Session:
    """An experiment with its folder, open for this process alone; `llm` and `judge` are its models, None for none."""

    experiment: Experiment
    folder: Path
    settings: Settings
    name: str
    results: Journal
    replies: Replies
    llm: KeptChat | None
    judge: KeptChat | None

    def estimate(self) -> Estimate:
        """Return what is still to be paid for."""
        return estimate(self.experiment, self.results, self.settings, self.llm, self.judge)

    def run(self, begin: Callable[[int], Callable[[int], None]]) -> Patience:
        """Do what is not done; `begin` is told the number of steps, and returns what counts them.

        Returns how many requests failed; what they asked is left to another run. Raises a StoreError or ModelError.
        """
        steps = self.experiment.steps(self.results)
        if not steps:
            return Patience()
        embedder = KeptEmbedder(embedder_named(self.settings))
        with Memory.connect(settings=self.settings, embedder=embedder, llm=self.llm) as memory:
            answering = Answering(self.llm, self.judge, self.settings.llm)
            run = Run(self.experiment, self.name, memory, self.results, answering, self.llm)
            run.all(begin(steps), embedder.forget)
            return run.patience

    def write(self) -> Summary:
        """Write `report.md`, its plots and `figures.json` into the folder."""
        summary = Summary(self.experiment, self.results)
        names = plots.draw(summary, self.folder)
        text = report(summary, self.settings, self.replies.spent, names)
        (self.folder / "report.md").write_text(text, encoding="utf-8")
        figures = json.dumps(summary.flat(), indent=1, sort_keys=True)
        (self.folder / "figures.json").write_text(figures + "\n", encoding="utf-8")
        return summary


@contextmanager
def session(
    file: Path,
    experiment: Experiment,
    folder: Path,
    settings: Settings,
    *,
    llm: ChatModel | None = None,
    judge: ChatModel | None = None,
) -> Iterator[Session]:
    """Open a folder, a new one or that of the same run, for this process alone.

    Raises MissingExtra, and InvalidInput for a folder of another run, or one that another process works in.
    """
    require_measures()
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        results = Journal(folder / _RESULTS)
        settings = settings if llm else without_models(settings)
        name = same_run(results, identity(file, experiment.model, settings), folder)
        replies = Replies(Journal(folder / "replies.jsonl"))
        kept = [KeptChat(one, replies) if one else None for one in (llm, judge)]
        yield Session(experiment, folder, settings, name, results, replies, *kept)


def forget(folder: Path, settings: Settings) -> int:
    """Remove what the run of a folder has in the database, and return how many memories there were at most.

    Its results and replies stay, so it can still be gone on with.
    """
    if not (folder / _RESULTS).is_file():
        return 0
    with _alone(folder):
        tenants = [str(key[1]) for key, _ in Journal(folder / _RESULTS).items() if key[0] == STORED]
        for tenant in tenants:
            purge(tenant, settings)
    return len(tenants)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder."""
    with needed("Evaluating", "eval"):
        from filelock import FileLock, Timeout
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InvalidInput(f"Another process is at the run in {folder}.") from None
    try:
        yield
    finally:
        lock.release()
