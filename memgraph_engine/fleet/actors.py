"""What runs on the nodes: one prepares what is to be written, one writes it, one does jobs.

Each is told with every call how it connects, and does so at the first: one that is started anew needs nothing else, and
what fails is told as any error of a call.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.engine.spread import Given
from memgraph_engine.engine.wiring import Engine, followed
from memgraph_engine.errors import MemgraphEngineError
from memgraph_engine.fleet.cluster import Sent, Where, learnt
from memgraph_engine.ingest.construct import Constructor, place
from memgraph_engine.ingest.messages import source_of
from memgraph_engine.ingest.passages import of_message
from memgraph_engine.ingest.worth import worthless
from memgraph_engine.lifecycle.file import policies
from memgraph_engine.model.health import JobRun
from memgraph_engine.model.memory import Source
from memgraph_engine.model.redaction import BuiltIn, Redaction
from memgraph_engine.model.scope import Scope
from memgraph_engine.worker.work import Worker, give_way
from memgraph_engine.writing.adding import batched

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The vectors of texts by a model: shape (texts, dimensions)."""

    model: str
    texts: Sequence[str]
    vectors: "NDArray[np.float32]"


class Primed(CheckedEmbedder):
    """An embedder that knows the vectors of some texts; for any other text it asks its own."""

    def __init__(self, own: CheckedEmbedder, prepared: Prepared) -> None:
        self.name, self.fitted, self.remote, self.languages = own.name, own.fitted, False, ()
        self._own = own
        self._dimensions = own.dimensions
        self._known = dict(zip(prepared.texts, prepared.vectors, strict=True))

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = dict(zip(new, self._own.embed_documents(new), strict=True)) if new else {}
        rows = [self._known[text] if text in self._known else made[text] for text in texts]
        return np.stack(rows) if rows else self._own.embed_documents([])

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,)."""
        return self._own.embed_query(text)


class _Node:
    _sent: Sent

    def _know(self, where: Where) -> None:
        """Learn how to connect."""
        if "_sent" not in vars(self):
            self._sent = learnt(where)

    @cached_property
    def _engine(self) -> Engine:
        return self._sent.engine()

    def process(self) -> int:
        """Return the id of the process."""
        return os.getpid()


class Preparer(_Node):
    """Parses, constructs and embeds what is given; it asks no database."""

    @cached_property
    def _embedder(self) -> CheckedEmbedder:
        one = self._sent.embedder()
        return one if isinstance(one, CheckedEmbedder) else CheckedEmbedder(one)

    def ready(self, where: Where) -> None:
        """Load the model."""
        self._know(where)
        _ = self._embedder

    def prepare(
        self, where: Where, scope: Scope, language: str, before: Sequence[Given], given: Sequence[Given], now: datetime
    ) -> Prepared | None:
        """Return the vectors of the texts that a write of it embeds, as far as that can be told without the graph.

        `before` are the last turns of its sessions. None where it can't be prepared: whoever writes it says why.
        """
        self._know(where)
        try:
            found = self._vectors(language, self._sources(scope, before, now), self._sources(scope, given, now))
        except MemgraphEngineError:
            return None
        return Prepared(self._embedder.name, list(found), np.stack([*found.values()])) if found else None

    def _sources(self, scope: Scope, given: Iterable[Given], now: datetime) -> list[Source]:
        settings, lives, redaction = self._read
        return [
            one if isinstance(one, Source) else source_of(settings, lives, redaction, scope, one, "the message", now)
            for one in given
            if isinstance(one, Source | Mapping)  # an item is embedded where it is written
        ]

    @cached_property
    def _read(self) -> tuple[Any, ...]:
        settings = self._sent.here
        redaction = Redaction(settings.secrets, self._sent.objects.get("redactor") or BuiltIn())
        return settings, policies(settings.lifecycle.policies), redaction

    def _vectors(
        self, language: str, before: Sequence[Source], given: Sequence[Source]
    ) -> "Mapping[str, NDArray[np.float32]]":
        settings, *_ = self._read
        constructor = Constructor(self._embedder, settings.max_keywords)
        tails = {one.session: of_message(one, settings.passage)[-1] for one in before}
        cut = (of_message(one, settings.passage) for one in given)
        for some in batched(cut, settings.ingest_batch, len):  # as they are written: a run of a model is of such a part
            new = list(chain.from_iterable(some))
            placed = place(new, tails, (), worthless([*tails.values(), *new], language, settings.gate))
            constructor.construct(placed, {}, language)
            tails |= {one.source.session: one.source for one in placed if one.source.session}
        return constructor.vectors


class Loader(_Node):
    """Judges and writes, by the calls that one process makes; what was prepared is embedded no more."""

    def ready(self, where: Where) -> None:
        """Connect."""
        self._know(where)
        _ = self._engine

    def load(self, where: Where, work: Callable[[Engine], Iterable[T]], prepared: Prepared | None) -> list[T]:
        """Do a piece of work, and return its results."""
        self._know(where)
        self._engine = engine = followed(self._engine)
        if prepared and prepared.model == engine.embedder.name:
            engine = replace(engine, embedder=Primed(engine.embedder, prepared))
        return list(work(engine))


class Working(_Node):
    """Does a worker's jobs, beginning with those of its share of the memories."""

    _worker: Worker | None = None

    def look(self, where: Where, share: float, *, every_tenant: bool, again: bool) -> tuple[bool, bool, list[JobRun]]:
        """Do what is due once; return whether anything was, whether nothing failed, and what was done."""
        self._know(where)
        if self._worker is None:
            self._told = list[JobRun]()
            self._worker = Worker(self._engine, every_tenant=every_tenant, tell=self._told.append, share=share)
            if again:
                give_way()
        self._told.clear()
        worked = self._worker.look(again=again)
        return worked, self._worker.fine, list(self._told)

    def stop(self) -> None:
        """Let the job that is under way end soon."""
        if self._worker:
            self._worker.stop()
