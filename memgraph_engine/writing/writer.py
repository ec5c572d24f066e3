"""The way of a write: ingest makes candidates, the gate decides and applies, and again when somebody was faster."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from itertools import chain

from memgraph_engine.engine.account import on_account
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
)
from memgraph_engine.gate.ask import Asking
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph import leases, notes, scopes, sources
from memgraph_engine.ingest.construct import Placed, Vectors, place, waiting
from memgraph_engine.ingest.messages import content_hash
from memgraph_engine.ingest.passages import of_message
from memgraph_engine.ingest.worth import worthless
from memgraph_engine.language.terms import DEFAULT_LANGUAGE
from memgraph_engine.lifecycle.policies import quoted
from memgraph_engine.model.memory import NEVER, Source
from memgraph_engine.model.result import Decision, Entry, Receipt
from memgraph_engine.model.scope import Scope
from memgraph_engine.rendering.context import render
from memgraph_engine.writing import change
from memgraph_engine.writing.batch import Batch, entries, unknown
from memgraph_engine.writing.commit import Stale, until_current
from memgraph_engine.writing.construction import Work, construct_alone, make_notes, tell
from memgraph_engine.writing.lives import restore, unsummed
from memgraph_engine.writing.profile import change_profile, set_attribute
from memgraph_engine.writing.rewording import Reworded, reword
from memgraph_engine.writing.sweep import sweep

_TOO_MANY = 3  # notes that can't be constructed: then it is not the notes
_log = logging.getLogger("memgraph_engine")


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
        """Begin a call, on the account of the scope."""
        engine = self._engine
        with on_account(engine, scope) as spent:
            asking = Asking(engine.roles, spent, engine.settings.gate, engine.judge)
            yield Work(Vectors(engine.embedder), spent, asking, shown)

    def _check(self, scope: Scope, given: Sequence[Source]) -> None:
        """Find conflicts of ids before the first of several batches is written."""
        size = self._settings.ingest_batch
        known: dict[str, sources.Known] = {}
        for start in range(0, len(given), size):
            ids = sorted({source.id for source in given[start : start + size]})
            seen = sources.look_up(self._engine.db, scope.name, ids, [], [])
            if seen:
                known |= {id: one for id, one in seen.known.items() if not one.ended}
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
            noises = (candidate.noise for candidate in candidates)
            verdicts = [Verdict("discard", evidence=f"It is {one}.") if one else Verdict("defer") for one in noises]
            return Batch(self._engine, scope, seen).write(candidates, verdicts)

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
        if ended := [id for id, one in seen.known.items() if one.ended]:
            self._make_room(scope, ended)
            raise Stale
        return seen

    def _make_room(self, scope: Scope, ids: Sequence[str]) -> None:
        """Erase sources whose ids come again and that are to be erased by now; raises Held, or ClockSkew."""
        held = sweep(self._engine, scope).held
        seen = sources.look_up(self._engine.db, scope.name, ids, [], []) if held else None
        if seen and (left := [id for id in ids if id in seen.known and seen.known[id].ended]):
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

    def update(self, scope: Scope, id: str, text: str, like: Source | None = None) -> Decision:
        """Give a note, or a message with all of its notes, a new text, and tags and metadata `like` a source's."""
        return unsummed(self._update)(self._engine, scope, id, text, like)

    def _update(self, engine: Engine, scope: Scope, id: str, text: str, like: Source | None) -> Decision:
        at = change.target(engine, scope, id)
        if at.source.kind == "item":
            raise InvalidInput(f"{id!r} of {scope} is an item of a store: it is changed there, by its key.")
        if at.whole:
            with self._work(scope) as work:
                return self._reword(scope, at, text, work, like)
        changed = replace(at.source, text=text)
        changed = replace(changed, hash=content_hash(changed))
        waits = at.found.note.status == "pending"
        (candidate,) = construct_alone(at.transaction, [Placed(changed)], waits=waits)
        if at.found.note.raw == (candidate.raw,) and (made := self._made(scope, at.found)):
            return made
        return change.update(at, candidate)

    def _reword(self, scope: Scope, at: change.Target, text: str, work: Work, like: Source | None) -> Decision:
        """Give a source a new text."""
        engine, language = self._engine, at.transaction.language
        old = sources.passages(engine.db, scope.name, at.whole)
        new = replace(sources.joined(old), text=text)
        new = replace(new, tags=like.tags, metadata=like.metadata) if like else new
        new = replace(new, hash=content_hash(new))
        told = at.message or at.found.note.raw == render([(new, None)], language).raw
        if told and new.hash == old[0].hash and (made := self._made(scope, at.found)):
            return made
        if at.found.note.status != "pending":  # else it is read when it is constructed
            for one in tell(engine, scope, language, [new], work).values():
                change_profile(at.transaction, new, at.found.note.id, one)
        stored = notes.renderings(engine.db, scope.name, [one.note.id for one in at.notes])
        return reword(at.transaction, Reworded(old, of_message(new, self._settings.passage), stored))

    def _made(self, scope: Scope, found: notes.Found) -> Decision | None:
        """Return the update that made a note what it is, if one did: a text that is given twice is one update."""
        made = notes.history(self._engine.db, scope.name, found.note.id)[-1].decision
        return made if made and made.kind == "update" else None

    def set_profile(self, scope: Scope, subject: str, name: str, value: str, source: Source | None) -> Decision:
        """Give a profile a value, or end what it has."""
        self._language(scope)  # a profile may be the first that a memory holds
        return set_attribute(self._engine, scope, subject, name, value, source)

    def _restored(self, scope: Scope, entries: Sequence[Entry]) -> list[Entry]:
        """Bring back what is said again and had expired meanwhile: it is no repeat of what can be read."""
        found = list(entries)
        for at, entry in enumerate(found):
            told = entry.passages or (entry,)
            if entry.kind == "repeat" and any(one.status in ("expired", "archived") for one in told):
                with suppress(InvalidInput, NotFound):  # somebody else was faster
                    decision = restore(self._engine, scope, entry.source)
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
