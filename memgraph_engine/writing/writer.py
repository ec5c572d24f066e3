"""The way of a write: ingest makes candidates, the gate decides and applies, and again when somebody was faster."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import TypeVar

from memgraph_engine.engine.account import Account
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import (
    ConstructionFailed,
    EmbeddingError,
    Held,
    InvalidInput,
    MemgraphEngineError,
    NotFound,
    QueryFailed,
    StoreMismatch,
    UndoRefused,
)
from memgraph_engine.gate.ask import Asking
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph import leases, notes, scopes, sources
from memgraph_engine.ingest.construct import Phrases, Placed, Vectors, construct, place, waiting
from memgraph_engine.ingest.messages import content_hash
from memgraph_engine.ingest.passages import of_message
from memgraph_engine.ingest.worth import worthless
from memgraph_engine.language import DEFAULT_LANGUAGE
from memgraph_engine.lifecycle import quoted
from memgraph_engine.llm import Spent
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import NEVER, TRUE_ONCE, Key, Source
from memgraph_engine.model.ports import utc_now
from memgraph_engine.model.result import Applied, Decision, Deletion, Entry, Evicted, Evolved, Receipt, Swept
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage
from memgraph_engine.recall.question import Filters
from memgraph_engine.rendering import render
from memgraph_engine.writing import change, contexts, erasure, lives
from memgraph_engine.writing import undo as undoing
from memgraph_engine.writing.batch import entries, unknown
from memgraph_engine.writing.commit import Stale, until_current
from memgraph_engine.writing.construction import Work, batch, make_notes, tell
from memgraph_engine.writing.eviction import Eviction
from memgraph_engine.writing.evolution import Evolution
from memgraph_engine.writing.profile import change_profile, set_attribute
from memgraph_engine.writing.pruning import prune
from memgraph_engine.writing.rewording import Reworded, reword
from memgraph_engine.writing.sweep import check_clock, sweep
from memgraph_engine.writing.transaction import Transaction
from memgraph_engine.writing.untie import untie

_TOO_MANY = 3  # notes that can't be constructed: then it is not the notes
_log = logging.getLogger("memgraph_engine")

T = TypeVar("T")


class Writer:
    """Writes to the memories of one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._settings = engine.settings
        self._languages: dict[str, str] = {}
        self._versions: dict[str, int] = {}  # of each scope, as it was last known here

    def expected_language(self, scope: Scope) -> str:
        """Return the language of a scope as far as it is known here."""
        return self._languages.get(scope.name) or self._settings.language or DEFAULT_LANGUAGE

    def add(self, scope: Scope, given: Iterable[Source], *, wait: bool = True, shown: Sequence[str] = ()) -> Receipt:
        """Store sources and their notes, a batch in a transaction; a list only if no source of it is in conflict.

        Without `wait` the notes are pending: found by their words, and constructed by `process`.
        """
        batches: Iterable[list[list[Source]]] = _batches(given, self._settings.ingest_batch, self._settings.passage)
        if isinstance(given, list):
            batches = list(batches)
            if len(batches) > 1:
                self._check(scope, given)
        entries: list[Entry] = []
        with self._work(scope, shown) as work:
            for some in batches:
                entries += self._restored(scope, self._add_batch(scope, some, work, wait=wait))
                work.clear()
            return work.receipt(entries)

    def process(self, scope: Scope, limit: int | None = None) -> Receipt:
        """Construct pending notes of a scope, oldest first, a batch in a transaction, each exactly once.

        One process at a time works on a scope, so that no model is asked twice about the same. A note that can't be
        constructed is passed over; where there is no other, ConstructionFailed is raised, and where there are many,
        what went wrong.
        """
        most = self._settings.ingest_batch
        entries: list[Entry] = []
        failed: dict[str, MemgraphEngineError] = {}
        with self._work(scope) as work:
            while limit is None or len(entries) < limit:
                size = most if limit is None else min(limit - len(entries), most)
                if not notes.pending(self._engine.db, scope.name, 1, list(failed)):
                    break
                with leases.held(self._engine.db, f"process {scope.name}"):
                    try:
                        entries += self._process_batch(scope, size, work, list(failed))
                    except (QueryFailed, EmbeddingError) as error:  # of the oldest, alone
                        oldest = notes.pending(self._engine.db, scope.name, 1, list(failed))
                        failed |= {one.found.note.id: error for one in oldest}
                        if len(failed) >= _TOO_MANY or not oldest:
                            raise
                work.clear()
            self._report(failed, alone=not entries)
            return work.receipt(entries)

    @staticmethod
    def _report(failed: Mapping[str, MemgraphEngineError], *, alone: bool) -> None:
        for note, error in failed.items():
            told = (
                f"Note {note} can't be constructed: {error} It stays pending and is found by its words; "
                "give it another text by `update`, or remove it by `delete`."
            )
            if alone:
                raise ConstructionFailed(told) from error
            _log.warning(told)

    @contextmanager
    def _work(self, scope: Scope, shown: Sequence[str] = ()) -> Iterator[Work]:
        """Begin a call: its budgets are those of the settings, and what it costs is written down however it ends."""
        engine, llm = self._engine, self._settings.llm
        account = Account(engine.db, scope, llm, engine.now, engine.roles)
        spent = Spent(account.meters)
        try:
            yield Work(
                Vectors(engine.embedder),
                spent,
                Asking(engine.roles, spent, engine.settings.gate, engine.judge),
                shown,
            )
        finally:
            account.settle(spent.cost)

    def _check(self, scope: Scope, given: Sequence[Source]) -> None:
        """Find conflicts of ids before the first of several batches is written."""
        size = self._settings.ingest_batch
        known: dict[str, sources.Known] = {}
        for start in range(0, len(given), size):
            ids = sorted({source.id for source in given[start : start + size]})
            seen = sources.look_up(self._engine.db, scope.name, ids, [], [])
            if seen:
                known |= {id: one for id, one in seen.known.items() if not one.ended}  # noqa: A001
        unknown(given, known)

    def _add_batch(self, scope: Scope, some: Sequence[Sequence[Source]], work: Work, *, wait: bool) -> list[Entry]:
        """Store inputs, each in its passages; if the server refuses them, each alone, so that none keeps out others."""
        given, passages = [first for first, *_ in some], {one[0].id: one for one in some}

        def attempt() -> list[Entry]:
            seen = self._look_up(scope, list(chain.from_iterable(some)), work, keywords=wait)
            new = [passage for source in unknown(given, seen.known) for passage in passages[source.id]]
            noise = worthless(new, seen.language, self._settings.gate, work.shown)
            placed = place(new, self._prolonged(seen.tails), seen.hidden, noise)
            made = (
                make_notes(self._engine, scope, seen, placed, work) if wait else self._defer(scope, seen, placed, work)
            )
            self._versions[scope.name] = seen.version + bool(made)
            return entries(given, made, seen.known)

        try:
            return until_current(self._engine.db, scope.name, attempt)
        except QueryFailed:
            if len(some) == 1:
                raise
            return [entry for one in some for entry in self._add_batch(scope, [one], work, wait=wait)]

    def _prolonged(self, tails: Mapping[str, Source]) -> Mapping[str, Source]:
        """Return the last turns of sessions that go on: what lives as long as its session ends later now."""
        now = self._engine.now()
        longer = self._engine.policies.of_sessions(now)
        return {
            session: replace(tail, **replace(longer[tail.policy], apart=tail.apart).properties)
            if tail.policy in longer and now < tail.expires_at < NEVER
            else tail
            for session, tail in tails.items()
        }

    def _defer(self, scope: Scope, seen: sources.Seen, placed: Sequence[Placed], work: Work) -> list[Entry]:
        with work.timed("write"):
            candidates = waiting(placed, seen.language)
            verdicts = [Verdict("discard" if c.noise else "defer", evidence=_why(c)) for c in candidates]
            return batch(self._engine, scope, seen).write(candidates, verdicts)

    def _process_batch(self, scope: Scope, size: int, work: Work, without: Sequence[str]) -> list[Entry]:
        """Construct a batch; if it fails, a half of it, so that one note can't keep out those before it."""

        def attempt() -> list[Entry]:
            state = scopes.state(self._engine.db, scope.name)
            pending = notes.pending(self._engine.db, scope.name, size, without) if state else []
            if not state or not pending:
                return []
            turns = [one.turns[0] for one in pending]
            noise = worthless([turn.source for turn in turns], state.language, self._settings.gate)
            placed = [
                Placed(
                    turn.source,
                    None,
                    quoted(turn.previous, one.found.note),
                    noise.get(turn.source.key, ""),
                    one.found.note.id,
                )
                for turn, one in zip(turns, pending, strict=True)
            ]
            with work.timed("look-up"):
                keys = work.phrases.keys([turn.source for turn in turns], state.language)
                self._versions[scope.name] = state.version
                seen = self._seen(scope, [], [], keys)
            if not seen or seen.version != state.version:
                raise Stale
            found = {one.turns[0].source.key: one.found for one in pending}
            return make_notes(self._engine, scope, seen, placed, work, found)

        try:
            return until_current(self._engine.db, scope.name, attempt)
        except (QueryFailed, EmbeddingError):
            if size == 1:
                raise
            return self._process_batch(scope, size // 2, work, without)

    def _look_up(self, scope: Scope, some: Sequence[Source], work: Work, *, keywords: bool) -> sources.Seen:
        language = self._language(scope)
        ids = sorted({source.id for source in some})
        sessions = sorted({source.session for source in some if source.session})
        with work.timed("keywords"):
            keys = work.phrases.keys(some, language) if keywords else []
        with work.timed("look-up"):
            seen = self._seen(scope, ids, sessions, keys)
        if seen is None or seen.language != language:  # removed, and perhaps made anew, since it was opened here
            self._languages.pop(scope.name, None)
            raise Stale
        if ended := [id for id, one in seen.known.items() if one.ended]:  # noqa: A001
            self._make_room(scope, ended)
            raise Stale
        return seen

    def _make_room(self, scope: Scope, ids: Sequence[str]) -> None:
        """Erase sources whose ids come again and that are to be erased by now; raises Held, or ClockSkew."""
        held = self.sweep(scope).held
        seen = sources.look_up(self._engine.db, scope.name, ids, [], []) if held else None
        if seen and (left := [id for id in ids if id in seen.known and seen.known[id].ended]):  # noqa: A001
            named = ", ".join(f"{one.id} ({one.reason})" for one in held)
            raise Held(
                f"Source {left[0]!r} of {scope} has ended, and a hold keeps it: {named}. Nothing was stored: release "
                "that first, or give what is new another id."
            )

    def _seen(
        self, scope: Scope, ids: Sequence[str], sessions: Sequence[str], keys: Sequence[str]
    ) -> sources.Seen | None:
        """Look up as of a version that was known before; raises Stale if others write all the time.

        A commit shows itself piece by piece, what its indexes find last. So a look-up that meets a version that was
        not known may have met half of a commit: it is made again, and the server first completes what was met.
        """
        for _ in range(2):
            seen = sources.look_up(self._engine.db, scope.name, ids, sessions, keys)
            if seen is None:
                self._versions.pop(scope.name, None)
                return None
            if self._versions.get(scope.name) == seen.version:
                return seen
            self._versions[scope.name] = seen.version
        raise Stale

    def update(self, scope: Scope, id: str, text: str, like: Source | None = None) -> Decision:  # noqa: A002
        """Give a note, or a message with all of its notes, a new text, and tags and metadata `like` a source's."""
        engine = self._engine

        def attempt() -> Decision:
            at = change.target(engine.db, scope, id)
            if at.source.kind == "item":
                raise InvalidInput(f"{id!r} of {scope} is an item of a store: it is changed there, by its key.")
            if at.whole:
                with self._work(scope) as work:
                    return self._reword(scope, at, text, work, like)
            changed = replace(at.source, text=text)
            changed = replace(changed, hash=content_hash(changed))
            (candidate,) = self._construct(scope, at.language, [Placed(changed)], _pending(at.found))
            if at.found.note.raw == (candidate.raw,) and (made := self._made(scope, at.found)):
                return made
            return change.update(engine.db, scope, at, candidate, engine.now())

        return self._unsummed(scope, attempt)

    def _unsummed(self, scope: Scope, attempt: Callable[[], T]) -> T:
        """Change what is told by summaries: it comes back first, since a summary is no text of one source."""
        while True:
            try:
                return until_current(self._engine.db, scope.name, attempt)
            except change.Summed as summed:
                self._restore_each(scope, summed.ids)

    def _restore_each(self, scope: Scope, ids: Sequence[str]) -> None:
        for id in ids:  # noqa: A001  the graph's own word
            with suppress(InvalidInput):  # somebody else was faster
                self.restore(scope, id)

    def _reword(self, scope: Scope, at: change.Target, text: str, work: Work, like: Source | None) -> Decision:
        """Give a source a new text."""
        engine, old = self._engine, sources.passages(self._engine.db, scope.name, at.whole)
        new = replace(sources.joined(old), text=text)
        new = replace(new, tags=like.tags, metadata=like.metadata) if like else new
        new = replace(new, hash=content_hash(new))
        told = at.message or at.found.note.raw == render([(new, None)], at.language).raw
        if told and new.hash == old[0].hash and (made := self._made(scope, at.found)):
            return made
        transaction = Transaction(scope, at.version, engine.now())
        if at.found.note.status != "pending":  # else it is read when it is constructed
            for one in tell(engine, scope, at.language, [new], work).values():
                change_profile(transaction, new, at.found.note.id, one)
        return reword(
            engine.db,
            transaction,
            Reworded(
                old,
                of_message(new, self._settings.passage),
                notes.renderings(engine.db, scope.name, [one.note.id for one in at.notes]),
            ),
            lambda placed, waits: self._construct(scope, at.language, placed, waits),
            language=at.language,
            embedder=engine.embedder,
        )

    def _made(self, scope: Scope, found: notes.Found) -> Decision | None:
        """Return the update that made a note what it is, if one did: a text that is given twice is one update."""
        made = notes.history(self._engine.db, scope.name, found.note.id)[-1].decision
        return made if made and made.kind == "update" else None

    def _construct(self, scope: Scope, language: str, placed: Sequence[Placed], waits: bool) -> Sequence[Candidate]:
        """Make candidates of what is worded anew; those that wait have no vectors."""
        if waits or not placed:
            return waiting(placed, language)
        phrases = Phrases()
        keys = phrases.keys([one.source for one in placed], language)
        seen = sources.look_up(self._engine.db, scope.name, [], [], keys)
        return construct(
            placed,
            seen.keywords if seen else {},
            language=language,
            max_keywords=self._settings.max_keywords,
            vectors=Vectors(self._engine.embedder),
            phrases=phrases,
        )

    def delete(self, scope: Scope, id: str) -> Decision:  # noqa: A002
        """Delete a note so that it can be recovered."""
        engine = self._engine

        def attempt() -> Decision:
            at = change.target(engine.db, scope, id)
            return change.delete(engine.db, scope, at, engine.embedder, engine.now())

        return self._unsummed(scope, attempt)

    def withdraw(self, scope: Scope, sources: Mapping[Key, str], why: str) -> Decision | None:
        """Delete what some sources (key → note) tell, in one decision; None if nothing of it can be read any more."""
        engine = self._engine
        told = dict(sources)

        def some() -> Decision | None:
            return change.withdraw(engine.db, scope, told, engine.embedder, engine.now(), why)

        while True:
            try:
                return until_current(engine.db, scope.name, some)
            except change.Summed as summed:
                self._restore_each(scope, summed.ids)
                back = (one.note for id in summed.ids for one in notes.found_by(engine.db, scope.name, id))  # noqa: A001
                told |= {source.key: note.id for note in back for source in note.sources if source.key in told}

    def delete_all(self, scope: Scope, filters: Filters) -> Deletion:
        """Delete what the sources of a scope tell that are meant, some hundreds of notes in a decision."""
        engine, place = self._engine, (NEVER, "")

        def some() -> tuple[int, Decision | None, change.Place] | None:
            return change.delete_some(engine.db, scope, filters, place, engine.embedder, engine.now())

        notes, decisions = 0, list[Decision]()
        while deleted := self._unsummed(scope, some):
            number, decision, place = deleted
            notes += number
            decisions += [decision] if decision else []
        return Deletion(notes, tuple(decisions))

    def render(self, scope: Scope) -> int:
        """Render the local contexts of a scope's notes anew, a page in a transaction; return how many changed."""
        engine = self._engine

        def some(ids: Sequence[str]) -> int:
            state = scopes.state(engine.db, scope.name)
            return contexts.render_anew(engine.db, scope, state, ids, engine.embedder, engine.now()) if state else 0

        pages = ([note.id for note in page] for page in notes.pages(engine.db, scope.name, Filters().listing()))
        return sum(until_current(engine.db, scope.name, partial(some, ids)) for ids in pages)

    def undo(self, scope: Scope, id: str, *, cascade: bool = False) -> Decision:  # noqa: A002
        """Take a decision back, with `cascade` after all later ones that touched what it made.

        Raises UndoRefused, also with `cascade` where something in its way can't be taken back.
        """
        engine = self._engine
        known: list[str] | None = None
        why: UndoRefused | None = None
        while True:
            try:
                return until_current(
                    engine.db,
                    scope.name,
                    lambda: undoing.undo(engine.db, scope, id, engine.embedder, engine.now(), engine.policies),
                )
            except UndoRefused as refused:
                later = undoing.later(engine.db, scope, id) if cascade else []  # refused too if it can't be undone
                if not cascade or later == known:
                    raise (why or refused) from None
                known = later
            for other in later:
                try:
                    self.undo(scope, other, cascade=True)
                except UndoRefused as refused:  # or somebody else was faster
                    why = refused

    def set_profile(self, scope: Scope, subject: str, name: str, value: str, source: Source | None) -> Decision:
        """Give a profile a value, or end what it has."""
        engine = self._engine
        language = self._language(scope)
        given = subject, name, value, source, language
        return until_current(engine.db, scope.name, lambda: set_attribute(engine.db, scope, *given, engine.now()))

    def untie(self, scope: Scope, note: str, other: str) -> Decision:
        """Take back the tie between two notes."""
        engine = self._engine
        taken = lambda: untie(engine.db, scope, (note, other), engine.embedder, engine.now())  # noqa: E731
        return until_current(engine.db, scope.name, taken)

    def sweep(self, scope: Scope) -> Swept:
        """Erase what has its end for good, but what is held, and archive what else has expired. Raises ClockSkew."""
        engine = self._engine
        if engine.clock is utc_now:  # a clock that a program gives is meant as it is
            check_clock(engine.db)
        if scopes.cut_off(engine.db, scope.name):
            scopes.clear(engine.db, scope.name)
        erased, held = erasure.ended(engine, scope)
        archived, decisions = 0, list[Decision]()
        while batch := until_current(engine.db, scope.name, lambda: sweep(engine.db, scope, engine.now())):
            archived += batch.notes
            decisions.append(batch.decision)
        scopes.settle(engine.db, scope.name, notes.UNSWEPT)
        pruned = prune(engine, scope, engine.now())
        return Swept(archived, tuple(decisions), tuple(erased), tuple(held), pruned)

    def evolve(self, scope: Scope) -> Evolved:
        """Hold what came to a scope since it evolved last against what is near it."""
        with self._work(scope) as work:
            return Evolution(self._engine, scope, work.spent).run()

    def restore(self, scope: Scope, id: str) -> Decision:  # noqa: A002
        """Bring back what expired, or was evicted."""
        engine = self._engine
        settings = engine.settings
        given = engine.policies, engine.embedder, settings.max_keywords
        return until_current(
            engine.db,
            scope.name,
            lambda: lives.restore(engine.db, scope, id, *given, engine.now(), settings.lifecycle.keep),
        )

    def evict(self, scope: Scope, *, dry_run: bool = False) -> Evicted:
        """Sum up the coldest notes of a scope that has more than its cap."""
        with self._work(scope) as work:
            return Eviction(self._engine, scope, work.spent, dry_run).run()

    def pin(self, scope: Scope, id: str, *, pinned: bool) -> Decision:  # noqa: A002
        """Let a note live for ever, or as its sources say again."""
        engine = self._engine
        given = engine.policies, engine.embedder, engine.settings.max_keywords
        return until_current(
            engine.db, scope.name, lambda: lives.pin(engine.db, scope, id, *given, engine.now(), pinned=pinned)
        )

    def end_session(self, scope: Scope, session: str) -> Decision:
        """End what lives as long as a session."""
        engine = self._engine
        given = engine.policies, engine.embedder, engine.settings.max_keywords
        return until_current(
            engine.db, scope.name, lambda: lives.end_session(engine.db, scope, session, *given, engine.now())
        )

    def follow(self, scope: Scope, used: Mapping[str, tuple[Usage, Usage]]) -> Sequence[Decision]:
        """End notes that were used as often as their classes allow, and prolong those whose utility rose enough."""
        engine = self._engine
        if not used or not any(one.uses or one.extend for one in engine.policies.classes.values()):
            return ()
        given = used, engine.policies, engine.embedder, engine.settings.max_keywords
        return until_current(engine.db, scope.name, lambda: lives.follow(engine.db, scope, *given, engine.now()))

    def assign(self, scope: Scope, id: str, policy: str) -> Decision:  # noqa: A002
        """Give a note a class."""
        engine = self._engine
        given = engine.policies, engine.embedder, engine.settings.max_keywords
        return until_current(
            engine.db, scope.name, lambda: lives.assign(engine.db, scope, id, policy, *given, engine.now())
        )

    def apply(self, scope: Scope, *, dry_run: bool) -> Applied:
        """Give a scope's notes the classes and lives of the policies of now, a page in a transaction."""
        engine = self._engine
        given = engine.policies, engine.embedder, engine.settings.max_keywords

        def some(ids: Sequence[str]) -> Applied:
            return lives.apply(engine.db, scope, ids, *given, engine.now(), dry_run=dry_run)

        classes, ends, decisions = Counter[str](), 0, list[Decision]()
        every = notes.pages(engine.db, scope.name, Filters().listing(), TRUE_ONCE)
        for ids in [[note.id for note in page] for page in every]:
            one = until_current(engine.db, scope.name, partial(some, ids))
            classes.update(one.classes)
            ends += one.ends
            decisions += one.decisions
        return Applied(dict(sorted(classes.items())), ends, tuple(decisions))

    def _restored(self, scope: Scope, entries: Sequence[Entry]) -> list[Entry]:
        """Bring back what is said again and had expired meanwhile: it is no repeat of what can be read."""
        found = list(entries)
        for at, entry in enumerate(found):
            told = entry.passages or (entry,)
            if entry.kind == "repeat" and any(one.status in ("expired", "archived") for one in told):
                with suppress(InvalidInput, NotFound):  # somebody else was faster
                    decision = self.restore(scope, entry.source)
                    found[at] = replace(entry, kind="restore", decision=decision.id, status="active")
        return found

    def _language(self, scope: Scope) -> str:
        """Open the scope, and refuse to write another language than its own."""
        known = self._languages.get(scope.name)
        wanted = self._settings.language
        if known is None:
            known = scopes.open_scope(self._engine.db, scope, wanted or DEFAULT_LANGUAGE)
            if wanted and known != wanted:
                raise StoreMismatch(
                    f"The memory of {scope} is in {known}, this client is set to {wanted}. "
                    "Leave the setting `language` empty to follow each memory, or use another user_id."
                )
            self._languages[scope.name] = known
            if self._engine.embedder.languages and known not in self._engine.embedder.languages:
                _tell_unknown(self._engine.embedder.name, known)
        return known


@cache
def _tell_unknown(embedder: str, language: str) -> None:
    """Warn, once, of a memory whose language the embedder doesn't know."""
    _log.warning(
        "The embedder %s does not know the language %r of a memory: what is said in other words is seldom found. "
        "Use a new database with one that does (MEMGRAPH_ENGINE_EMBEDDER=multilingual).",
        embedder,
        language,
    )


def _batches(given: Iterable[Source], size: int, passage: int) -> Iterator[list[list[Source]]]:
    """Yield inputs, each cut into its passages, until they have about `size` of these."""
    batch, passages = list[list[Source]](), 0
    for source in given:
        batch.append(of_message(source, passage))
        passages += len(batch[-1])
        if passages >= size:
            yield batch
            batch, passages = [], 0
    if batch:
        yield batch


def _pending(found: notes.Found) -> bool:
    return found.note.status == "pending"


def _why(candidate: Candidate) -> str:
    return f"It is {candidate.noise}." if candidate.noise else ""
