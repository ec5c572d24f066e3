"""The way of a write: ingest makes candidates, the gate decides and applies, and again when somebody was faster."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from time import perf_counter

from memgraph_engine.errors import StoreMismatch
from memgraph_engine.gate import batch as gate
from memgraph_engine.gate import change
from memgraph_engine.gate import undo as undoing
from memgraph_engine.gate.commit import Stale, until_current
from memgraph_engine.gate.judge import Judge
from memgraph_engine.graph import notes, scopes, sources
from memgraph_engine.ingest.construct import Vectors, construct, keyword_phrases
from memgraph_engine.ingest.messages import content_hash
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import Source
from memgraph_engine.model.names import key
from memgraph_engine.model.result import Decision, Entry, Receipt
from memgraph_engine.model.scope import Scope
from memgraph_engine.wiring import Engine

_DEFAULT_LANGUAGE = "english"


class Writer:
    """Writes to the memories of one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._settings = engine.settings
        self._languages: dict[str, str] = {}

    def expected_language(self, scope: Scope) -> str:
        """Return the language of a scope as far as it is known here."""
        return self._languages.get(scope.name) or self._settings.language or _DEFAULT_LANGUAGE

    def add(self, scope: Scope, given: Iterable[Source]) -> Receipt:
        """Store sources and their notes, a batch in a transaction; a list only if no source of it is in conflict."""
        entries: list[Entry] = []
        seconds: Counter[str] = Counter()
        if isinstance(given, list) and len(given) > self._settings.ingest_batch:
            self._check(scope, given)
        rest = iter(given)
        while batch := list(islice(rest, self._settings.ingest_batch)):
            entries += self._add_batch(scope, batch, seconds)
        return Receipt(tuple(entries), dict(seconds))

    def _check(self, scope: Scope, given: Sequence[Source]) -> None:
        """Find conflicts of ids before the first of several batches is written."""
        size = self._settings.ingest_batch
        known: dict[str, sources.Known] = {}
        for start in range(0, len(given), size):
            ids = sorted({source.id for source in given[start : start + size]})
            seen = sources.look_up(self._engine.db, scope.name, ids, [], [])
            if seen:
                known |= seen.known
        gate.unknown(given, known)

    def _add_batch(self, scope: Scope, batch: Sequence[Source], seconds: Counter[str]) -> list[Entry]:
        vectors = Vectors(self._engine.embedder)
        ids = sorted({source.id for source in batch})
        sessions = sorted({source.session for source in batch if source.session})

        def attempt() -> list[Entry]:
            language = self._language(scope)
            with _timed(seconds, "keywords"):
                phrases = (phrase for source in batch for phrase in keyword_phrases(source, language))
                keys = sorted({meeting for phrase in phrases if (meeting := key(phrase, language))})
            with _timed(seconds, "look-up"):
                seen = sources.look_up(self._engine.db, scope.name, ids, sessions, keys)
            if seen is None or seen.language != language:  # removed, and perhaps made anew, since it was opened here
                self._languages.pop(scope.name, None)
                raise Stale
            new = gate.unknown(batch, seen.known)
            with _timed(seconds, "construct"):
                candidates = construct(
                    new,
                    seen.tails,
                    seen.keywords,
                    hidden=seen.hidden,
                    language=language,
                    max_keywords=self._settings.max_keywords,
                    vectors=vectors,
                )
            with _timed(seconds, "gate"):
                verdicts = self._judge(scope, seen).verdicts(self._engine.db, candidates)
            with _timed(seconds, "write"):
                made = self._batch(scope, seen).write(candidates, verdicts)
                return gate.entries(batch, made, seen.known)

        return until_current(self._engine.db, scope.name, attempt)

    def _judge(self, scope: Scope, seen: sources.Seen) -> Judge:
        return Judge(self._settings.gate, self._engine.embedder.name, scope, seen.language, seen.notes)

    def _batch(self, scope: Scope, seen: sources.Seen) -> gate.Batch:
        engine = self._engine
        return gate.Batch(
            engine.db,
            scope,
            seen,
            engine.now(),
            engine.embedder,
            self._settings.max_keywords,
            self._settings.gate.thresholds,
        )

    def update(self, scope: Scope, id: str, text: str) -> Decision:  # noqa: A002
        """Give a note a new text."""
        engine = self._engine

        def attempt() -> Decision:
            at = change.target(engine.db, scope, id)
            changed = replace(at.source, text=text)
            changed = replace(changed, hash=content_hash(changed))
            if changed.hash == at.source.hash:  # said twice: the decision that made it so
                made = notes.history(engine.db, scope.name, at.found.note.id)[-1].decision
                if made:
                    return made
            candidate = self._reconstruct(scope, at, changed)
            return change.update(engine.db, scope, at, candidate, engine.embedder, engine.now())

        return until_current(engine.db, scope.name, attempt)

    def _reconstruct(self, scope: Scope, at: change.Target, changed: Source) -> Candidate:
        keys = [key(phrase, at.language) for phrase in keyword_phrases(changed, at.language)]
        seen = sources.look_up(self._engine.db, scope.name, [], [], [k for k in keys if k])
        previous = change.previous(self._engine.db, scope, changed)
        tails = {changed.session: previous} if previous else {}
        (candidate,) = construct(
            [changed],
            tails,
            seen.keywords if seen else {},
            language=at.language,
            max_keywords=self._settings.max_keywords,
            vectors=Vectors(self._engine.embedder),
        )
        return replace(candidate, source=changed)

    def delete(self, scope: Scope, id: str) -> Decision:  # noqa: A002
        """Delete a note so that it can be recovered."""
        engine = self._engine

        def attempt() -> Decision:
            at = change.target(engine.db, scope, id)
            return change.delete(engine.db, scope, at, engine.embedder, engine.now())

        return until_current(engine.db, scope.name, attempt)

    def delete_all(self, scope: Scope) -> list[Decision]:
        """Delete all notes of a scope, some hundreds in a decision."""
        engine = self._engine
        decisions: list[Decision] = []
        while True:
            decision = until_current(
                engine.db, scope.name, lambda: change.delete_some(engine.db, scope, engine.embedder, engine.now())
            )
            if decision is None:
                return decisions
            decisions.append(decision)

    def undo(self, scope: Scope, id: str, *, cascade: bool = False) -> Decision:  # noqa: A002
        """Take a decision back, with `cascade` after all later ones that touched what it made."""
        engine = self._engine
        if cascade:
            for other in undoing.later(engine.db, scope, id):
                if not undoing.check_done(engine.db, scope, other):
                    self.undo(scope, other, cascade=True)
        return until_current(
            engine.db, scope.name, lambda: undoing.undo(engine.db, scope, id, engine.embedder, engine.now())
        )

    def _language(self, scope: Scope) -> str:
        """Open the scope, and refuse to write another language than its own."""
        known = self._languages.get(scope.name)
        wanted = self._settings.language
        if known is None:
            known = scopes.open_scope(self._engine.db, scope, wanted or _DEFAULT_LANGUAGE)
            if wanted and known != wanted:
                raise StoreMismatch(
                    f"The memory of {scope} is in {known}, this client is set to {wanted}. "
                    "Leave the setting `language` empty to follow each memory, or use another user_id."
                )
            self._languages[scope.name] = known
        return known


@contextmanager
def _timed(seconds: Counter[str], stage: str) -> Iterator[None]:
    start = perf_counter()
    try:
        yield
    finally:
        seconds[stage] += perf_counter() - start  # type: ignore[assignment]
