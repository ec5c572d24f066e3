"""The way of a write: ingest makes candidates, the gate decides and applies, and again when somebody was faster."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import TypeVar

from memgraph_engine.engine.passes import Pass
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import (
    ConstructionFailed,
    EmbeddingError,
    Held,
    InvalidInput,
    MemgraphEngineError,
    NotFound,
    QueryFailed,
)
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph import leases, notes, scopes, sources
from memgraph_engine.graph.database import Moved
from memgraph_engine.ingest.construct import place, waiting
from memgraph_engine.ingest.messages import SINGLE, check_texts, source_of
from memgraph_engine.ingest.passages import of_message
from memgraph_engine.ingest.worth import worthless
from memgraph_engine.lifecycle.policies import quoted
from memgraph_engine.model.candidate import Placed
from memgraph_engine.model.memory import NEVER, Source
from memgraph_engine.model.result import Entry, Receipt
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.batch import Batch, entries, unknown
from memgraph_engine.writing.commit import Stale, until_current
from memgraph_engine.writing.construction import Work, make_notes
from memgraph_engine.writing.lives import restore
from memgraph_engine.writing.sweep import Sweep

_TOO_MANY = 3  # notes that can't be constructed: then it is not the notes
_log = logging.getLogger("memgraph_engine")

T = TypeVar("T")


def add(engine: Engine, scope: Scope, messages: object, *, wait: bool, shown: Sequence[str] | None) -> Receipt:
    """Store messages: a list only if all of it can be read, an iterator batch by batch. Raises InvalidInput."""
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput("add_many takes a list of messages; add takes a single one.")
    now = engine.now()
    many = len(messages) if isinstance(messages, Sequence) else 0
    places = (f"message {i} of {many}" if many > 1 else SINGLE if many else f"message {i}" for i in count(1))
    read = partial(source_of, engine.settings, engine.policies, engine.redaction, scope, now=now)
    given: Iterable[Source] = (read(message, at) for message, at in zip(messages, places, strict=False))
    if isinstance(messages, Sequence):
        given = list(given)
    return store(engine, scope, given, wait=wait, shown=check_texts(shown, "shown"))


def store(
    engine: Engine, scope: Scope, given: Iterable[Source], *, wait: bool = True, shown: Sequence[str] = ()
) -> Receipt:
    """Store sources and their notes, a batch in a transaction; a list only if no source of it is in conflict.

    Without `wait` the notes are pending: found by their words, and constructed by `process`.
    """
    cut = (of_message(source, engine.settings.passage) for source in given)
    batches: Iterable[list[list[Source]]] = batched(cut, engine.settings.ingest_batch, len)
    if isinstance(given, list):
        batches = list(batches)
        if len(batches) > 1:
            _check(engine, scope, given)
    entries: list[Entry] = []
    with Work.begin(engine, scope, shown) as work:
        for some in batches:
            added = _add_batch(work, some, wait=wait)
            entries += _restored(work.engine, scope, added)
            work.clear()
        return work.receipt(entries)


def process(engine: Engine, scope: Scope, limit: int | None = None) -> Receipt:
    """Construct pending notes, a batch in a transaction; one process at a time, so that no model is asked twice.

    Where many can't be constructed, it is not the notes: what went wrong is raised.
    """
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InvalidInput(f"limit must be a whole number from 1, or None for all, not {limit!r}.")
    most = engine.settings.ingest_batch
    entries: list[Entry] = []
    failed: dict[str, MemgraphEngineError] = {}
    with Work.begin(engine, scope) as work:
        while limit is None or len(entries) < limit:
            size = most if limit is None else min(limit - len(entries), most)
            if not notes.pending(engine.db, scope.name, 1, list(failed)):
                break
            with leases.held(engine.db, f"process {scope.name}"):
                try:
                    entries += _process_batch(work, size, list(failed))
                except (QueryFailed, EmbeddingError) as error:  # of the oldest, alone
                    oldest = notes.pending(engine.db, scope.name, 1, list(failed))
                    failed |= {one.found.note.id: error for one in oldest}
                    if len(failed) >= _TOO_MANY or not oldest:
                        raise
            work.clear()
        _report(failed, alone=not entries)
        return work.receipt(entries)


class Construction(Pass[Receipt]):
    """Constructs a batch of the notes that are pending."""

    name, when, most = "construct", "where notes are pending", 10
    sign, why = "pending", "pending notes"

    def counts(self, made: Receipt) -> Mapping[str, int] | None:
        """Return what became of how many."""
        return dict(Counter[str](sorted(entry.kind for entry in made.entries))) or None

    def work(self) -> Receipt:
        """Construct them."""
        return process(self.engine, self.scope, self.engine.settings.ingest_batch)


def _report(failed: Mapping[str, MemgraphEngineError], *, alone: bool) -> None:
    for note, error in failed.items():
        told = (
            f"Note {note} can't be constructed: {error} It stays pending and is found by its words; "
            "give it another text by `update`, or remove it by `delete`."
        )
        if alone:
            raise ConstructionFailed(told) from error
        _log.warning(told)


def _check(engine: Engine, scope: Scope, given: Sequence[Source]) -> None:
    """Find conflicts of ids before the first of several batches is written."""
    size = engine.settings.ingest_batch
    known: dict[str, sources.Known] = {}
    for start in range(0, len(given), size):
        known |= sources.known(engine.db, scope.name, (source.id for source in given[start : start + size]))
    unknown(given, known)


def _add_batch(work: Work, some: Sequence[Sequence[Source]], *, wait: bool) -> list[Entry]:
    """Store inputs, each in its passages; if the server refuses them, each alone, so that none keeps out others."""
    scope = work.scope
    given, passages = [first for first, *_ in some], {one[0].id: one for one in some}

    def attempt() -> list[Entry]:
        engine = work.engine
        seen = look_up(work, list(chain.from_iterable(some)), keywords=wait)
        new = [passage for source in unknown(given, seen.known) for passage in passages[source.id]]
        noise = worthless(new, seen.language, engine.settings.gate, work.shown)
        placed = place(new, _prolonged(engine, seen.tails), seen.hidden, noise)
        made = make_notes(work, seen, placed) if wait else _defer(work, seen, placed)
        engine.versions[scope.name] = seen.version + bool(made)
        return entries(given, made, seen.known)

    try:
        return until_current(work.engine.db, scope.name, attempt)
    except Moved:  # what came before is written, and may come from an iterator that gives nothing twice
        work.follow()
        return _add_batch(work, some, wait=wait)
    except QueryFailed:
        if len(some) == 1:
            raise
        return [entry for one in some for entry in _add_batch(work, [one], wait=wait)]


def _prolonged(engine: Engine, tails: Mapping[str, Source]) -> Mapping[str, Source]:
    """Return the last turns of sessions that go on: what lives as long as its session ends later now."""
    now = engine.now()
    longer = engine.policies.of_sessions(now)
    return {
        session: replace(tail, **replace(longer[tail.policy], apart=tail.apart).properties)
        if tail.policy in longer and now < tail.expires_at < NEVER
        else tail
        for session, tail in tails.items()
    }


def _defer(work: Work, seen: sources.Seen, placed: Sequence[Placed]) -> list[Entry]:
    with work.timed("write"):
        candidates = waiting(placed, seen.language)
        noises = (candidate.noise for candidate in candidates)
        verdicts = [Verdict("discard", evidence=f"It is {one}.") if one else Verdict("defer") for one in noises]
        return Batch(work.engine, work.scope, seen).write(candidates, verdicts)


def _process_batch(work: Work, size: int, without: Sequence[str]) -> list[Entry]:
    """Construct a batch; if it fails, a half of it, so that one note can't keep out those before it."""
    engine, scope = work.engine, work.scope

    def attempt() -> list[Entry]:
        state = scopes.state(engine.db, scope.name)
        pending = notes.pending(engine.db, scope.name, size, without) if state else []
        if not state or not pending:
            return []
        turns = [one.turns[0] for one in pending]
        noise = worthless([turn.source for turn in turns], state.language, engine.settings.gate)
        placed = [
            Placed(
                turn.source,
                None,
                quoted(turn.previous, turn.source, one.found.note),
                noise.get(turn.source.key, ""),
                one.found.note.id,
            )
            for turn, one in zip(turns, pending, strict=True)
        ]
        with work.timed("look-up"):
            keys = work.constructor.keys([turn.source for turn in turns], state.language)
            engine.versions[scope.name] = state.version
            seen = _seen(engine, scope, [], [], keys)
        if not seen or seen.version != state.version:
            raise Stale
        found = {one.turns[0].source.key: one.found for one in pending}
        return make_notes(work, seen, placed, found)

    try:
        return until_current(engine.db, scope.name, attempt)
    except (QueryFailed, EmbeddingError):
        if size == 1:
            raise
        return _process_batch(work, size // 2, without)


def look_up(work: Work, some: Sequence[Source], *, keywords: bool) -> sources.Seen:
    """Return what is stored of some sources, and around them; what is to be erased by now makes room for them."""
    engine, scope = work.engine, work.scope
    language = engine.open(scope)
    ids = sorted({source.id for source in some})
    sessions = sorted({source.session for source in some if source.session})
    with work.timed("keywords"):
        keys = work.constructor.keys(some, language) if keywords else []
    with work.timed("look-up"):
        seen = _seen(engine, scope, ids, sessions, keys)
    if seen is None or seen.language != language:  # removed, and perhaps made anew, since it was opened here
        engine.languages.pop(scope.name, None)
        raise Stale
    if ended := [id for id, one in seen.known.items() if one.ended]:
        _make_room(engine, scope, ended)
        raise Stale
    return seen


def _make_room(engine: Engine, scope: Scope, ids: Sequence[str]) -> None:
    """Erase sources whose ids come again and that are to be erased by now; raises Held, or ClockSkew."""
    held = Sweep(engine, scope).run().held
    seen = sources.look_up(engine.db, scope.name, ids, [], []) if held else None
    if seen and (left := [id for id in ids if id in seen.known and seen.known[id].ended]):
        named = ", ".join(f"{one.id} ({one.reason})" for one in held)
        raise Held(
            f"Source {left[0]!r} of {scope} has ended, and a hold keeps it: {named}. Nothing was stored: release "
            "that first, or give what is new another id."
        )


def _seen(
    engine: Engine, scope: Scope, ids: Sequence[str], sessions: Sequence[str], keys: Sequence[str]
) -> sources.Seen | None:
    """Look up as of a version that was known before; raises Stale if others write all the time.

    A commit shows itself piece by piece, what its indexes find last. So a look-up that meets a version that was
    not known may have met half of a commit: it is made again, and the server first completes what was met.
    """
    for _ in range(2):
        seen = sources.look_up(engine.db, scope.name, ids, sessions, keys)
        if seen is None:
            engine.versions.pop(scope.name, None)
            return None
        if engine.versions.get(scope.name) == seen.version:
            return seen
        engine.versions[scope.name] = seen.version
    raise Stale


def _restored(engine: Engine, scope: Scope, entries: Sequence[Entry]) -> list[Entry]:
    """Bring back what is said again and had expired meanwhile: it is no repeat of what can be read."""
    found = list(entries)
    for at, entry in enumerate(found):
        told = entry.passages or (entry,)
        if entry.kind == "repeat" and any(one.status in ("expired", "archived") for one in told):
            with suppress(InvalidInput, NotFound):  # somebody else was faster
                decision = restore(engine, scope, entry.source)
                found[at] = replace(entry, kind="restore", decision=decision.id, status="active")
    return found


def batched(given: Iterable[T], size: int, counted: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield batches that count `size` together or more; none is in two of them."""
    batch, number = list[T](), 0
    for one in given:
        batch.append(one)
        number += counted(one)
        if number >= size:
            yield batch
            batch, number = [], 0
    if batch:
        yield batch
