"""What a run measures, task by task, and what of it is done already."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from memgraph_engine.errors import InvalidInput
from memgraph_engine.evaluation.kept import Journal, Key
from memgraph_engine.evaluation.locomo import Conversation, Question, conversations
from memgraph_engine.evaluation.variants import FULL_CONTEXT, SWEPT, Variant, variants
from memgraph_engine.settings import Settings

K_FINAL = 20
"""Notes that an answer is made from (MemFly, table 5)."""
SWEEP = (1, 2, 10, 20, 30, 40, 50)
"""The k that retrieval is measured at beside (LightMem, table 1; MLA-ARC, section 5.5)."""

FOUND, ANSWER, JUDGED = "found", "answer", "judged"
BUILT = "built"
STORED = "stored"  # and by which tenant: what a run that is broken off leaves behind is known
_ROOMS = {"recall", "gate", "topics", "blocks", "answer", "lifecycle", "use"}
_SETTINGS = {"embedder", "language", "timezone", "max_keywords", *_ROOMS}
_LLM = {"temperature", "max_tokens", "batch_tokens"}


@dataclass(frozen=True, slots=True)
class Task:
    """One question for one variant, with k notes, and what is to be found out: FOUND, ANSWER, JUDGED."""

    variant: Variant
    k: int
    conversation: str
    number: int
    question: Question
    wanted: tuple[str, ...]

    def key(self, kind: str) -> Key:
        """Return under which key the journal has it."""
        return kind, self.variant.name, self.k, self.conversation, self.number

    def pending(self, results: Journal) -> list[str]:
        """Return what is not known yet."""
        return [kind for kind in self.wanted if self.key(kind) not in results]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a run measures: `ks` are the numbers of notes that answers are made from, `model` and `judge` '' for none.

    The first of `ks` is that of ablations.
    """

    conversations: Sequence[Conversation]
    model: str = ""
    judge: str = ""
    ks: tuple[int, ...] = (K_FINAL,)
    ablations: tuple[str, ...] = ()
    full_context: bool = True

    @property
    def variants(self) -> list[Variant]:
        """What is compared, in order."""
        return variants(self.ablations, model=bool(self.model), full_context=self.full_context, k=self.ks[0])

    def tasks(self, conversation: Conversation) -> Iterator[Task]:
        """Yield every task about a conversation."""
        for variant in self.variants:
            for k in sorted({*self.ks, *SWEEP}) if variant.name in SWEPT else self.answered(variant):
                for number, question in enumerate(conversation.questions):
                    if wanted := self._wanted(k, question):
                        yield Task(variant, k, conversation.id, number, question, wanted)

    def pending(self, conversation: Conversation, results: Journal) -> list[Task]:
        """Return the tasks about a conversation that are not done."""
        return [task for task in self.tasks(conversation) if task.pending(results)]

    def steps(self, results: Journal) -> int:
        """Return how often a run counts on: for each turn that it stores, and each task that is not done."""
        total = 0
        for conversation in self.conversations:
            tasks = self.pending(conversation, results)
            stored = {task.variant.memory for task in tasks} - {FULL_CONTEXT}
            total += len(stored) * len(conversation.turns) + len(tasks)
        return total

    def answered(self, variant: Variant) -> Sequence[int]:
        """Return the numbers of notes that a variant's answers are made from; 0 is no memory but everything."""
        if variant.name == FULL_CONTEXT:
            return (0,)
        return self.ks if variant.name in SWEPT else self.ks[:1]

    def _wanted(self, k: int, question: Question) -> tuple[str, ...]:
        found = (FOUND,) if k and question.evidence else ()
        if not self.model or (k and k not in self.ks):
            return found
        return (*found, ANSWER, *((JUDGED,) if self.judge else ()))


def read(file: Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file; raises InvalidInput for one without a question."""
    found = list(conversations(file))
    if not any(one.questions for one in found):
        raise InvalidInput(f"{file} holds no questions.")
    return found


def identity(file: Path, model: str, settings: Settings) -> dict[str, Any]:
    """Return what the results of a run depend on, and must not change while it is gone on with."""
    return {
        "data": hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest(),
        "model": model,
        **settings.model_dump(mode="json", include=_SETTINGS),
        "llm": settings.llm.model_dump(mode="json", include=_LLM),
    }


def same_run(journal: Journal, now: dict[str, Any], folder: Path) -> str:
    """Return the id of the run that a folder holds, a new one if there is none.

    Raises InvalidInput for a folder that holds a run of other data, another model or other settings.
    """
    before = journal.get(("run",))
    if before is None:
        run = uuid4().hex
        journal.add(("run",), {"id": run, **now})
        return run
    if changed := [name for name in now if before.get(name) != now[name]]:
        raise InvalidInput(
            f"{folder} holds a run with another {', another '.join(changed)}: "
            "go on with the same, or name another folder with --out."
        )
    return str(before["id"])
