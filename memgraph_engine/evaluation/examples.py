"""What a selector is trained on: questions, what the memory's first stage finds for them, and which of it answers.

LightMem with small models trains its second stage so (sections 3.4, 4.1.4), and its examples are unpublished. Here they
are written, for the conversations that the user names; nothing is trained.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memgraph_engine.client import Memory
from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.engine.wiring import purge
from memgraph_engine.errors import InvalidInput, ModelUnavailable
from memgraph_engine.evaluation.kept import Journal, KeptChat, KeptEmbedder, Replies
from memgraph_engine.evaluation.locomo import Conversation, Question
from memgraph_engine.evaluation.run import after, stored
from memgraph_engine.evaluation.variants import Variant, without_models
from memgraph_engine.files import written_whole
from memgraph_engine.graph import leases
from memgraph_engine.interface.results import json_form
from memgraph_engine.model.ports import ChatModel, Message
from memgraph_engine.recall.select import MOST_READ
from memgraph_engine.settings import Settings

_ANY: Sequence[Message] = ({"role": "user", "content": "?"},)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that was found, by its number as a selector is shown it, from 1, with the ids of its sources."""

    note: int
    text: str
    speaker: str
    said_at: datetime
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A question with what a model made of it, the notes found, the turns that answer it, and the notes of these.

    `keep` is what a selector should answer: numbers of `candidates`, in their order. It is empty where the evidence is
    not among them. In LoCoMo's category 5 `evidence` is what the false premise of the question was made of.
    """

    conversation: str
    question: str
    category: int
    queries: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    evidence: tuple[str, ...]
    keep: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What an export wrote.

    `left_out` questions name no turn that exists. `answerable` is the share of the examples (0 to 1) in which something
    is to be kept. `fallbacks` says what was done without the model, and why.
    """

    path: Path
    conversations: int
    examples: int
    left_out: int
    candidates: int
    answerable: float
    fallbacks: tuple[str, ...]
    spent: Cost


def write(
    path: Path,
    conversations: Sequence[Conversation],
    k: int,
    settings: Settings,
    *,
    llm: ChatModel | None = None,
    limit: float | None = None,
    advance: Callable[[int], None] = lambda _steps: None,
) -> Written:
    """Write an example for each question with evidence, a line of JSON each; the file is there once it is whole.

    A selector keeps k of `recall.candidates` times k notes, 100 at most. `llm` constructs notes and reads questions,
    for at most `limit` dollars; its replies are kept beside the file, so a broken-off export pays for nothing twice.
    `advance` counts turns and questions. Each conversation is a memory of its own meanwhile, which is removed.

    Raises InvalidInput for a file that can't be written and a limit on an unknown price, WriteConflict where another
    export writes it, and a ModelError where the model can't be asked or the limit is reached.
    """
    replies = Replies(Journal(path.with_name(f"{path.name}.replies.jsonl"))) if llm else None
    kept = KeptChat(llm, replies) if llm and replies else None
    if kept and replies and limit is not None:
        if kept.estimate(_ANY, 1).money is None:
            raise InvalidInput(f"The price of {kept.name} is not known, so no limit can stop it: say --yes.")
        replies.limit = (replies.spent.money or 0.0) + limit
    settings = settings if kept else without_models(settings)
    tenant = f"eval-{hashlib.blake2b(str(path.resolve()).encode(), digest_size=8).hexdigest()}"
    fallbacks: dict[str, None] = {}
    examples = candidates = answerable = 0
    try:
        with (
            written_whole(path) as file,
            Memory.connect(settings=settings, embedder=KeptEmbedder(embedder_named(settings)), llm=kept) as memory,
            leases.held(memory.engine.db, f"export {tenant}", patience=0),
        ):
            export = _Export(memory, tenant, k, kept, fallbacks, advance)
            for conversation in conversations:
                for example in export.of(conversation):
                    file.write(json.dumps(json_form(example), ensure_ascii=False).encode() + b"\n")
                    examples += 1
                    candidates += len(example.candidates)
                    answerable += bool(example.keep)
    except OSError as error:
        raise InvalidInput(f"{path} can't be written: {error.strerror}.") from None
    asked = sum(len(one.questions) for one in conversations)
    share = answerable / examples if examples else 0.0
    spent = replies.spent if replies else NOTHING
    return Written(path, len(conversations), examples, asked - examples, candidates, share, tuple(fallbacks), spent)


@dataclass(frozen=True, slots=True)
class _Export:
    memory: Memory
    tenant: str
    k: int
    llm: KeptChat | None
    fallbacks: dict[str, None]
    advance: Callable[[int], None]

    def of(self, conversation: Conversation) -> Iterator[Example]:
        """Yield the examples of a conversation, whose memory is made anew and removed."""
        settings = self.memory.engine.settings
        purge(self.tenant, settings)  # what an export that was killed has left
        try:
            # one round, which is planned where there is a model: `sufficient` 0 says that it is enough
            first = {"reranker": "", "rounds": 2 if self.llm else 1, "sufficient": 0.0}
            mine = Variant("first-stage", {"recall": first}, unasked=frozenset({"sufficiency"}))
            memory = mine.of(self.memory, self.tenant)
            stored(memory, conversation, self._told, self.advance)
            asked = after(conversation, memory)
            for question in conversation.questions:
                if question.evidence:
                    yield self._example(asked, conversation.id, question)
                self.advance(1)
        finally:
            purge(self.tenant, settings)

    def _example(self, memory: Memory, user: str, question: Question) -> Example:
        read = min(memory.engine.settings.recall.candidates * self.k, MOST_READ)
        hits = memory.search(question.text, user_id=user, top_k=read, explain=True)
        self._told(hits.fallbacks)
        some = tuple(
            Candidate(number, one.note.context, one.note.speaker, one.note.said_at, tuple(s.id for s in one.sources))
            for number, one in enumerate(hits, 1)
        )
        keep = tuple(one.note for one in some if not set(question.evidence).isdisjoint(one.sources))
        planned = hits[0].explanation.rounds if hits and hits[0].explanation else ()
        queries = planned[0].plan.queries if planned else ()
        return Example(user, question.text, question.category, queries, some, question.evidence, keep)

    def _told(self, fallbacks: Sequence[str]) -> None:
        """Keep why parts were done without the model; raises a ModelError where it could not be asked."""
        if fallbacks and self.llm:
            self.llm.check()
            if self.llm.failures:
                raise ModelUnavailable(f"Nothing is written, since the model failed: {fallbacks[0]}")
        self.fallbacks.update(dict.fromkeys(fallbacks))
