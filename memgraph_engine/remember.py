"""The way of a write: ingest makes candidates, the gate decides and applies, and again when somebody was faster."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter

from memgraph_engine.account import Account
from memgraph_engine.errors import QueryFailed, StoreMismatch
from memgraph_engine.gate import batch as gate
from memgraph_engine.gate import change
from memgraph_engine.gate import undo as undoing
from memgraph_engine.gate.ask import asking, write_merges
from memgraph_engine.gate.commit import Stale, until_current
from memgraph_engine.gate.judge import Judge
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph import notes, scopes, sources
from memgraph_engine.graph.notes import Found
from memgraph_engine.ingest.construct import Placed, Vectors, construct, keyword_phrases, past_noise, place, waiting
from memgraph_engine.ingest.extract import Extracted, extract
from memgraph_engine.ingest.messages import content_hash
from memgraph_engine.llm import Spent
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import Source
from memgraph_engine.model.names import key
from memgraph_engine.model.result import Decision, Entry, Receipt
from memgraph_engine.model.scope import Scope
from memgraph_engine.wiring import Engine

_DEFAULT_LANGUAGE = "english"


@dataclass
class Work:
    """What one call of the API has used so far, and what need not be done twice when a batch is tried again."""

    vectors: Vectors
    spent: Spent
    seconds: Counter[str] = field(default_factory=Counter)
    extracted: dict[str, Extracted] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of what is done inside to a stage."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start  # type: ignore[assignment]

    def receipt(self, entries: Iterable[Entry]) -> Receipt:
        """Return what the call did."""
        return Receipt(tuple(entries), dict(self.seconds), self.spent.cost, tuple(self.spent.fallbacks))


class Writer:
    """Writes to the memories of one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._settings = engine.settings
        self._languages: dict[str, str] = {}

    def expected_language(self, scope: Scope) -> str:
        """Return the language of a scope as far as it is known here."""
        return self._languages.get(scope.name) or self._settings.language or _DEFAULT_LANGUAGE

    def add(self, scope: Scope, given: Iterable[Source], *, wait: bool = True) -> Receipt:
        """Store sources and their notes, a batch in a transaction; a list only if no source of it is in conflict.

        Without `wait` the notes are pending: found by their words, and constructed by `process`.
        """
        size = self._settings.ingest_batch
        if isinstance(given, list) and len(given) > size:
            self._check(scope, given)
        rest = iter(given)
        entries: list[Entry] = []
        with self._work(scope) as work:
            while batch := list(islice(rest, size)):
                entries += self._add_batch(scope, batch, work) if wait else self._defer(scope, batch, work)
            return work.receipt(entries)

    def process(self, scope: Scope) -> Receipt:
        """Construct the pending notes of a scope, oldest first, a batch in a transaction, each exactly once."""
        entries: list[Entry] = []
        with self._work(scope) as work:
            while made := self._process_batch(scope, work):
                entries += made
            return work.receipt(entries)

    @contextmanager
    def _work(self, scope: Scope) -> Iterator[Work]:
        """Begin a call: its budgets are those of the settings, and what it costs is written down however it ends."""
        account = Account(self._engine.db, scope, self._settings.llm, self._engine.now, self._engine.roles)
        work = Work(Vectors(self._engine.embedder), Spent(account.meters))
        try:
            yield work
        finally:
            account.settle(work.spent.cost)

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

    def _add_batch(self, scope: Scope, batch: Sequence[Source], work: Work) -> list[Entry]:
        """Store a batch; if the server refuses it, each source alone, so that one can't keep out the others."""

        def attempt() -> list[Entry]:
            seen, language = self._look_up(scope, batch, work)
            new = gate.unknown(batch, seen.known)
            placed = place(new, seen.tails, seen.hidden)
            made = self._remember(scope, seen, placed, language, work)
            return gate.entries(batch, made, seen.known)

        try:
            return until_current(self._engine.db, scope.name, attempt)
        except QueryFailed:
            if len(batch) == 1:
                raise
            return [entry for source in batch for entry in self._add_batch(scope, [source], work)]

    def _defer(self, scope: Scope, batch: Sequence[Source], work: Work) -> list[Entry]:
        def attempt() -> list[Entry]:
            seen, language = self._look_up(scope, batch, work, keywords=False)
            placed = place(gate.unknown(batch, seen.known), seen.tails, seen.hidden)
            with work.timed("write"):
                candidates = waiting(placed, language)
                made = self._batch(scope, seen).write(candidates, [Verdict("defer")] * len(candidates))
            return gate.entries(batch, made, seen.known)

        return until_current(self._engine.db, scope.name, attempt)

    def _process_batch(self, scope: Scope, work: Work) -> list[Entry]:
        def attempt() -> list[Entry]:
            state = scopes.state(self._engine.db, scope.name)
            pending = notes.pending(self._engine.db, scope.name, self._settings.ingest_batch) if state else []
            if not state or not pending:
                return []
            turns = [one.turns[0] for one in pending]
            placed = [Placed(turn.source, turn.previous_id, turn.previous) for turn in turns]
            with work.timed("look-up"):
                keys = self._keys([turn.source for turn in turns], state.language)
                seen = sources.look_up(self._engine.db, scope.name, [], [], keys)
            if not seen or seen.version != state.version:
                raise Stale
            found = {one.turns[0].source.id: one.found for one in pending}
            return list(self._remember(scope, seen, placed, state.language, work, found).values())

        return until_current(self._engine.db, scope.name, attempt)

    def _remember(
        self,
        scope: Scope,
        seen: sources.Seen,
        placed: Sequence[Placed],
        language: str,
        work: Work,
        pending: Mapping[str, Found] | None = None,
    ) -> dict[str, Entry]:
        """Construct, judge and write notes of sources."""
        roles, settings = self._engine.roles, self._settings
        with work.timed("extract"):
            new = [one for one in placed if one.source.id not in work.extracted]
            if new and settings.gate.denoise:
                work.extracted |= extract(
                    roles, new, language, batch_tokens=settings.llm.batch_tokens, spent=work.spent
                )
        with work.timed("construct"):
            candidates = construct(
                past_noise(placed, language, work.extracted) if settings.gate.discard else placed,
                seen.keywords,
                language=language,
                max_keywords=settings.max_keywords,
                vectors=work.vectors,
                extracted=work.extracted,
            )
        with work.timed("gate"):
            verdicts = self._judge(scope, seen, candidates, work)
        with work.timed("write"):
            return self._batch(scope, seen, pending or {}).write(candidates, verdicts)

    def _judge(self, scope: Scope, seen: sources.Seen, candidates: Sequence[Candidate], work: Work) -> list[Verdict]:
        """Judge candidates, with a chat model where there is one; each verdict carries its share of the costs."""
        engine, settings = self._engine, self._settings
        judge = Judge(settings.gate, engine.embedder.name, scope, seen.language, seen.notes)
        if not engine.roles.has("gate"):
            verdicts = judge.verdicts(engine.db, candidates)
        else:
            verdicts = judge.verdicts(
                engine.db, candidates, asking(engine.roles, settings.llm.batch_tokens, work.spent)
            )
        verdicts = write_merges(engine.roles, candidates, verdicts, judge.contexts, work.spent)
        return [_with_extraction(v, work.extracted.get(c.source.id)) for c, v in zip(candidates, verdicts, strict=True)]

    def _look_up(
        self, scope: Scope, batch: Sequence[Source], work: Work, *, keywords: bool = True
    ) -> tuple[sources.Seen, str]:
        language = self._language(scope)
        ids = sorted({source.id for source in batch})
        sessions = sorted({source.session for source in batch if source.session})
        with work.timed("keywords"):
            keys = self._keys(batch, language) if keywords else []
        with work.timed("look-up"):
            seen = sources.look_up(self._engine.db, scope.name, ids, sessions, keys)
        if seen is None or seen.language != language:  # removed, and perhaps made anew, since it was opened here
            self._languages.pop(scope.name, None)
            raise Stale
        return seen, language

    @staticmethod
    def _keys(batch: Iterable[Source], language: str) -> list[str]:
        phrases = (phrase for source in batch for phrase in keyword_phrases(source, language))
        return sorted({meeting for phrase in phrases if (meeting := key(phrase, language))})

    def _batch(self, scope: Scope, seen: sources.Seen, pending: Mapping[str, Found] | None = None) -> gate.Batch:
        engine = self._engine
        return gate.Batch(
            engine.db,
            scope,
            seen,
            engine.now(),
            engine.embedder,
            self._settings.max_keywords,
            self._settings.gate.thresholds,
            pending or {},
        )

    def update(self, scope: Scope, id: str, text: str) -> Decision:  # noqa: A002
        """Give a note a new text."""
        engine = self._engine

        def attempt() -> Decision:
            at = change.target(engine.db, scope, id)
            changed = replace(at.source, text=text)
            changed = replace(changed, hash=content_hash(changed))
            candidate = self._reconstruct(scope, at, changed)
            if at.found.note.raw == (candidate.raw,) and (not at.single or changed.hash == at.source.hash):
                made = notes.history(engine.db, scope.name, at.found.note.id)[-1].decision
                if made:  # said twice: the decision that made it so
                    return made
            return change.update(engine.db, scope, at, candidate, engine.embedder, engine.now())

        return until_current(engine.db, scope.name, attempt)

    def _reconstruct(self, scope: Scope, at: change.Target, changed: Source) -> Candidate:
        db = self._engine.db
        seen = sources.look_up(db, scope.name, [], [], self._keys([changed], at.language))
        previous = change.previous(db, scope, changed) if at.single else None
        (candidate,) = construct(
            [Placed(changed, None, previous)],
            seen.keywords if seen else {},
            language=at.language,
            max_keywords=self._settings.max_keywords,
            vectors=Vectors(self._engine.embedder),
        )
        return candidate

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
        some: Callable[[], Decision | None] = lambda: change.delete_some(  # noqa: E731
            engine.db, scope, engine.embedder, engine.now()
        )
        decisions: list[Decision] = []
        while decision := until_current(engine.db, scope.name, some):
            decisions.append(decision)
        return decisions

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


def _with_extraction(verdict: Verdict, by: Extracted | None) -> Verdict:
    """Add the extraction's share of the costs to a verdict."""
    if by is None:
        return verdict
    return replace(verdict, model=verdict.model or by.model, cost=verdict.cost + by.cost)
