"""Run an experiment in its folder: build the memories of each conversation, ask its questions, write down results."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from memgraph_engine.answer.context import LEAST_BUDGET
from memgraph_engine.blocks.reading import scored, selected
from memgraph_engine.client import Memory
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.engine.wiring import purge
from memgraph_engine.errors import BudgetSpent, InvalidInput, ModelError, ModelUnavailable, needed
from memgraph_engine.evaluation import plots
from memgraph_engine.evaluation.answering import Answering, Patience
from memgraph_engine.evaluation.estimate import Estimate, estimate
from memgraph_engine.evaluation.experiment import (
    ANSWER,
    BUILT,
    FOUND,
    JUDGED,
    STORED,
    Experiment,
    Task,
    identity,
    same_run,
)
from memgraph_engine.evaluation.kept import Journal, KeptChat, KeptEmbedder, Replies
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import report
from memgraph_engine.evaluation.summary import Summary
from memgraph_engine.evaluation.variants import BLOCKS, FULL_CONTEXT, RAG, Variant, without_models
from memgraph_engine.evaluation.wording import MEASURES, SBERT, require_measures, similarity, wording
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.interface import defaults
from memgraph_engine.model.memory import Source, line
from memgraph_engine.model.ports import ChatModel
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings

_ROOM = 2000  # tokens for each note of a context: the number of notes is what bounds it


class Run:
    """A run of an experiment on a database; what is known is not done again.

    `memory` is connected with the experiment's model. Memories have tenants of their own, named after the run, and are
    removed when all questions about them are answered.
    """

    def __init__(self, of: "Session", memory: Memory) -> None:
        self._experiment, self._name, self._results, self._llm = of.experiment, of.name, of.results, of.llm
        self._memory, self._answering = memory, Answering(of.llm, of.judge, of.settings.llm)
        self.patience = Patience()

    def all(self, advance: Callable[[int], None], done: Callable[[], None] = lambda: None) -> None:
        """Do all that is not done; `advance` is told how many steps at a time, `done` after each conversation.

        Raises what building a memory raises, and a ModelError when a model fails again and again.
        """
        for conversation in self._experiment.conversations:
            by_memory: dict[str, list[Task]] = {}
            for task in self._experiment.pending(conversation, self._results):
                by_memory.setdefault(task.variant.memory, []).append(task)
            for memory, tasks in by_memory.items():
                self._examine(conversation, memory, tasks, advance)
            done()

    def _examine(
        self, conversation: Conversation, memory: str, tasks: Sequence[Task], advance: Callable[[int], None]
    ) -> None:
        """Build one memory of a conversation, do the tasks that read it, and remove it."""
        tenant = f"eval-{self._name}-{memory}-{conversation.id}"
        if memory != FULL_CONTEXT:
            builder = next(one for one in self._experiment.variants if one.name == memory)
            self._build(conversation, builder, tenant, advance)
            if any(task.variant.reads_blocks(self._memory.engine.settings) for task in tasks):
                stored, user = builder.of(self._memory, tenant), conversation.id
                if not stored.block_runs(user_id=user, limit=1):  # else a broken-off run has built them
                    stored.rebuild_blocks(user_id=user)
            if any(task.variant.settings(self._memory.engine.settings).claims.share for task in tasks):
                builder.of(self._memory, tenant).consolidate(user_id=conversation.id)  # reads each note once
        given = conversation.turns if memory == FULL_CONTEXT else ()
        said = (parse_message(turn, turn["id"], timezone="UTC", max_text=1_000_000) for turn in given)
        everything = "\n".join(line(source, "english") for source in said)  # as a note's raw text has them
        asked = after(conversation, self._memory)
        of = {task.variant.name: task.variant.of(asked, tenant) for task in tasks}

        def do(task: Task) -> None:
            self._do(task, of[task.variant.name], everything)

        _each(do, tasks, self._memory.engine.settings.llm.concurrency, advance)
        if not any(task.pending(self._results) for task in tasks):
            purge(tenant, self._memory.engine.settings)

    def _build(self, conversation: Conversation, variant: Variant, tenant: str, advance: Callable[[int], None]) -> None:
        """Store the turns, find topics, evolve where the settings do; what is stored already is recognised.

        Raises a ModelError when the model could not be asked: no memory is left that was built half without it.
        """
        memory, user = variant.of(self._memory, tenant), conversation.id
        self._results.add((STORED, tenant), {})
        fallbacks: dict[str, None] = {}
        before = self._llm.failures if self._llm else 0

        def told(some: Sequence[str]) -> None:
            fallbacks.update(dict.fromkeys(some))
            if fallbacks and self._llm:
                self._give_up(self._llm, before, tenant, next(iter(fallbacks)))

        stored(memory, conversation, told, advance)
        if memory.engine.settings.lifecycle.evolve:
            fallbacks |= dict.fromkeys(memory.evolve(user_id=user).fallbacks)
        key = (BUILT, variant.name, user)
        if fallbacks or key not in self._results:
            self._results.add(key, {"notes": memory.stats(user_id=user).notes, "fallbacks": list(fallbacks)})

    def _give_up(self, llm: KeptChat, before: int, tenant: str, reason: str) -> None:
        """Remove a memory that lacks what the model would have said if it had been there; its replies are kept."""
        try:
            llm.check()
            if llm.failures > before:
                raise ModelUnavailable(f"The memory is not built, since the model failed: {reason}")
        except ModelError:
            purge(tenant, self._memory.engine.settings)
            raise

    def _do(self, task: Task, memory: Memory, everything: str) -> None:
        """Do what is not done of a task; an answer that a model did not give is left for the next run."""
        for kind in task.pending(self._results):
            try:
                self._results.add(task.key(kind), self._one(kind, task, memory, everything))
            except BudgetSpent:
                raise
            except ModelError as error:
                self.patience.failed(error)
                return
            if kind != FOUND:
                self.patience.succeeded()

    def _one(self, kind: str, task: Task, memory: Memory, everything: str) -> dict[str, Any]:
        before, begun = self._llm.failures_here if self._llm else 0, perf_counter()
        if kind == FOUND:
            sources, fallbacks = _found(memory, task)
            return {"sources": sources, "seconds": perf_counter() - begun, **self._told(fallbacks, before)}
        if kind == JUDGED:
            known = self._results.get(task.key(ANSWER))
            assert known is not None
            return self._answering.judged(task.question, known["answer"])
        lines, fallbacks = (everything, ()) if everything else _said(memory, task)
        told = self._told(fallbacks, before)
        entry = {**self._answering.answer(task.question, lines), "seconds": perf_counter() - begun}
        return {**entry, "scores": self._scores(entry["answer"], task.question.answer), **told}

    def _told(self, fallbacks: Sequence[str], before: int) -> dict[str, Any]:
        """Return what an entry says of the parts that were done without the model.

        Raises a ModelError where another run may do them with it: this thread's requests failed more often than before.
        """
        if fallbacks and self._llm:
            self._llm.check()
            if self._llm.failures_here > before:
                raise ModelUnavailable(fallbacks[0])
        return {"fallbacks": list(fallbacks)} if fallbacks else {}

    def _scores(self, answer: str, reference: str) -> dict[str, float]:
        """Score an answer's words, and how near its vector is to the reference's."""
        if not answer:
            return dict.fromkeys((*MEASURES, SBERT), 0.0)
        vectors = self._memory.engine.embedder.embed_documents([answer, reference])
        return {**wording(answer, reference), SBERT: similarity(vectors)}


def stored(
    memory: Memory, conversation: Conversation, told: Callable[[Sequence[str]], None], advance: Callable[[int], None]
) -> None:
    """Store the turns of a conversation and find topics, unless they are found; `told` is what models did not do."""
    size = memory.engine.settings.ingest_batch
    for start in range(0, len(conversation.turns), size):
        some = conversation.turns[start : start + size]
        told(memory.add_many(some, user_id=conversation.id).fallbacks)
        advance(len(some))
    if memory.engine.settings.recall.has("topics") and not memory.topic_runs(user_id=conversation.id, limit=1):
        memory.rebuild_topics(user_id=conversation.id)


def after(conversation: Conversation, memory: Memory) -> Memory:
    """Return the memory as it is asked when the conversation has just ended: "last week" is the one before that."""
    last = parse_message(conversation.turns[-1], "the last turn", timezone="UTC", max_text=1_000_000).said_at
    return memory if last is None else Memory(replace(memory.engine, clock=lambda: last))


def _each(do: Callable[[Task], None], tasks: Iterable[Task], at_once: int, advance: Callable[[int], None]) -> None:
    """Do tasks, several at the same time; what one raises ends all that have not begun."""
    with ThreadPoolExecutor(at_once, "memgraph-engine-eval") as pool:
        running = [pool.submit(do, task) for task in tasks]
        try:
            for done in as_completed(running):
                done.result()
                advance(1)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _found(memory: Memory, task: Task) -> tuple[list[str], Sequence[str]]:
    """Return the ids of the first k sources that a search or blocks find, in order, and its fallbacks."""
    fallbacks: Sequence[str] = ()
    if task.variant.name == BLOCKS:
        sources = _sources_by_blocks(memory, task)
    else:
        hits = memory.search(task.question.text, user_id=task.conversation, top_k=task.k)
        sources, fallbacks = [source for hit in hits for source in hit.sources], hits.fallbacks
    return list(dict.fromkeys(source.id for source in sources))[: task.k], fallbacks


def _sources_by_blocks(memory: Memory, task: Task) -> list[Source]:
    """Return the sources of the notes that blocks lead to, in the order in which a context by blocks takes them.

    Chosen are the paper's 10 blocks, and more where k is above 20: about as many as a context of k turns would take.
    """
    engine = memory.engine
    scopes = [one.name for one in Scope(engine.settings.tenant, task.conversation).readable]
    vector = engine.embedder.embed_query(task.question.text)
    chosen = selected(engine, scopes, vector, max(defaults.BLOCKS, task.k // 2))
    notes = [note for note, _ in scored(engine, scopes, vector, chosen)]
    engine.notes.complete(engine.db, scopes, notes)
    return [source for note in notes if note.whole for source in note.note().sources]


def _said(memory: Memory, task: Task) -> tuple[str, Sequence[str]]:
    """Return what an answer is made from, the memory's context or of plain RAG the turns found, and its fallbacks.

    A context by blocks has room for as many tokens as one of k notes, since blocks don't count notes.
    """
    question, user = task.question.text, task.conversation
    if task.variant.name == RAG:
        hits = memory.search(question, user_id=user, top_k=task.k)
        return "\n".join(text for hit in hits for text in hit.note.raw), hits.fallbacks
    context = memory.context(question, user_id=user, top_k=task.k, budget=_ROOM * task.k)
    if task.variant.name == BLOCKS:
        context = memory.context(question, user_id=user, by="blocks", budget=max(context.tokens, LEAST_BUDGET))
    return "\n".join(context.shown), context.fallbacks


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
            run = Run(self, memory)
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
    try:
        held = FileLock(folder / "lock").acquire(timeout=0)
    except Timeout:
        raise InvalidInput(f"Another process is at the run in {folder}.") from None
    with held:
        yield
