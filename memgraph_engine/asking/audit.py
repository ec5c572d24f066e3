"""What an auditor asks: what is known of something and why, what was deleted and by which rule, how a note changed.

And which notes were given to whom, where that is recorded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from memgraph_engine.asking.lookup import story
from memgraph_engine.asking.reader import Reader
from memgraph_engine.engine.wiring import Engine, following
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.graph import decisions, erasures, notes, retrievals, scopes, sources
from memgraph_engine.ingest.messages import check_name, check_text, parse_time
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.language.terms import DEFAULT_LANGUAGE, tokenize
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Note
from memgraph_engine.model.result import Change, Hit, Hold, Known, Removed, Retrieval, Story, Version
from memgraph_engine.model.scope import Scope, scope_of
from memgraph_engine.trust import TRUST

_REMOVING = ("delete", "expire", "archive", "consolidate", "undo")
_FIELDS = ("raw", "context", "status", "valid_from", "valid_to", "tags", "keywords", "policy", "expires_at", "pinned")


class Audit:
    """An auditor's questions to a memory; `Memory.audit` is one.

    >>> from memgraph_engine import Memory
    >>> with Memory.connect(tenant=tenant) as memory:
    ...     note = memory.add("The heron eats fish.", user_id="sol").entries[0].note
    ...     _ = memory.delete(note, user_id="sol")
    ...     memory.audit.deleted(user_id="sol")[0].rule
    'delete'
    """

    def __init__(self, reader: Callable[[], Reader], follow: Callable[[], None]) -> None:
        self._now, self._follow = reader, follow

    @property
    def _reader(self) -> Reader:
        return self._now()

    @property
    def engine(self) -> Engine:
        """What the memory works with."""
        return self._reader.engine

    def _scope(self, user_id: str | None, shared: bool) -> Scope:
        return scope_of(self.engine.settings.tenant, user_id, shared=shared)

    @following
    def about(self, query: str, *, user_id: str | None = None, shared: bool = False) -> list[Known]:
        """Return what a memory knows of something, the most relevant first, and why each of it is still there.

        It is what a search finds that is relevant enough for a context (`answer.relevance`), of all policies, and what
        summaries stand for; for a user, of the shared memory too.
        """
        scope, floor = self._scope(user_id, shared), self.engine.settings.answer.relevance
        every = tuple(self.engine.policies.classes)
        held = {one.name: erasures.held(self.engine.db, one.name) for one in scope.readable}
        return [
            self._known(hit, scope, held)
            for hit in self._reader.found(scope, query, MOST, include=every, archived=True, trust=TRUST[-1])
            if hit.reaches(floor)
        ]

    @following
    def deleted(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        rule: str | None = None,
    ) -> list[Removed]:
        """Return what left a memory, newest first: by which decision, or by which erasure, whose receipt proves it.

        `since` and `until` are both included; a day means the whole of it. `rule` is a decision's kind (delete, expire,
        archive, consolidate, undo), or the rule of a receipt (session, query, ended …).
        """
        if rule is not None and not isinstance(rule, str):
            raise InvalidInput(f"rule must be the kind of a decision or the rule of a receipt, not {rule!r}.")
        scope, zone = self._scope(user_id, shared), self.engine.settings.timezone
        first = parse_time(since, "since", zone) or UNKNOWN_PAST
        last = parse_time(until, "until", zone, end=True) or NEVER
        db, name = self.engine.db, scope.name
        decided = decisions.of_kinds(db, name, _REMOVING, first, last)
        erased = (one for one in erasures.receipts(db, scope.tenant) if one.scope == erasures.salted(one.id, name))
        found = [Removed(one.at, one.kind, left, one) for one, left in decided]
        found += [Removed(one.ended, one.rule, one.counts["notes"], None, one) for one in erased]
        found = [one for one in found if first <= one.at <= last]
        kept = [one for one in found if rule is None or one.rule == rule or rule in one.rule.split(", ")]
        return sorted(kept, key=lambda one: one.at, reverse=True)

    @following
    def changed(self, id: str, *, user_id: str | None = None, shared: bool = False) -> list[Change]:
        """Return how a note came to be what it is, oldest first: what each decision changed of it; raises NotFound.

        It is named by its own id or a source's, of a long message the first passage's. That another note took its place
        is a change too: `now` has its `until`, `replaced_by` and perhaps `former`.
        """
        made = story(self.engine, self._scope(user_id, shared), id)
        versions = made.versions
        first = Change(versions[0].note.recorded_at, {}, _told(versions[0].note), versions[0].decision)
        return _replaced([first, *(_change(before, after) for before, after in pairwise(versions))], made)

    @following
    def retrievals(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        note: str | None = None,
        query: str | None = None,
    ) -> list[Retrieval]:
        """Return which notes a reader was given, by which calls, newest first, as far as that is recorded.

        The setting `audit.retrievals` says so: `ids`, or `text` for the questions too. The reader is a user, who is
        given notes of the shared memory as well; with `shared` it is whoever asked that memory alone. `since` and
        `until` are both included; a day means the whole of it. `note` asks for what gave this note, or, by the id of a
        source, one that tells it; `query` for questions that hold all of its words. Raises NotFound for a `note` that
        the memory does not have, unless it was given.

        >>> from memgraph_engine import Memory, Settings
        >>> settings = Settings.load(audit={"retrievals": "text"})
        >>> with Memory.connect(tenant=tenant, settings=settings) as memory:
        ...     _ = memory.add("The heron eats fish.", user_id="lou")
        ...     _ = memory.search("What does the heron eat?", user_id="lou")
        ...     [(one.call, one.query, len(one.notes)) for one in memory.audit.retrievals(user_id="lou")]
        [('search', 'What does the heron eat?', 1)]
        """
        scope, zone = self._scope(user_id, shared), self.engine.settings.timezone
        first = parse_time(since, "since", zone) or UNKNOWN_PAST
        last = parse_time(until, "until", zone, end=True) or NEVER
        asked = None if query is None else check_text(query, "query", self.engine.settings.max_text)
        named = None if note is None else self._named(scope, check_name(note, "note"))
        self._reader.write()
        found = self._given(scope, first, last, named)
        if asked is None:
            return list(found)
        state = scopes.state(self.engine.db, scope.name)
        language = state.language if state else DEFAULT_LANGUAGE
        return [one for one in found if _asks(one.query, asked, language)]

    def _given(
        self, scope: Scope, since: datetime, until: datetime, named: Sequence[str] | None
    ) -> Iterator[Retrieval]:
        """Yield what a reader was given, without what is to be erased by now; nor is told what was asked for it then.

        No question is, while an erasure goes on that may have to look for it.
        """
        db = self.engine.db
        gone = {note for one in scope.readable for note in erasures.gone(db, one.name, db.alive())}
        erasing = any(erasures.begun(db, one.name) for one in scope.readable)
        wanted = None if named is None else [note for note in named if note not in gone]
        for one in retrievals.between(db, scope, since, until, wanted):
            left = tuple(given for given in one.notes if given.note not in gone)
            told = "" if erasing or len(left) < len(one.notes) else one.query
            if left:
                yield replace(one, notes=left, query=told)

    def _named(self, scope: Scope, name: str) -> list[str]:
        """Return the notes that a name means: that of its own, or those that tell the source; raises NotFound."""
        db, read = self.engine.db, [one.name for one in scope.readable]
        told = [note.id for one in read for note in erasures.notes(db, one, [name], []) if note.told]
        there = told or any(notes.find(db, one, name) or notes.former(db, one, name) for one in read)
        there = there or any(sources.find(db, one, name) for one in read)
        if there or any(retrievals.between(db, scope, UNKNOWN_PAST, NEVER, [name])):
            return [name, *told]
        raise NotFound(f"There is no note or source {name!r} in the memory of {scope}.")

    def _known(self, hit: Hit, scope: Scope, held: Mapping[str, list[Hold]]) -> Known:
        db, note = self.engine.db, hit.note
        for one in scope.readable:
            if made := decisions.of_note(db, one.name, note.id):
                told = decisions.told(db, one.name, note.id, made)
                return Known(
                    note, hit.relevance, _kept(note), tuple(_holding(note, held[one.name])), tuple(told.values())
                )
        return Known(note, hit.relevance, _kept(note), tuple(_holding(note, held[scope.name])), ())


def _asks(question: str, words: str, language: str) -> bool:
    """Tell whether a question holds all of some words, by their stems; as they are written if they have none."""
    terms = {*tokenize(words, language)}
    return terms <= {*tokenize(question, language)} if terms else words.strip().casefold() in question.casefold()


def _kept(note: Note) -> str:
    """Say why a note is still there."""
    if note.pinned:
        return f"It is pinned, whatever its policy {note.policy!r} says."
    ends = [
        f"{what} {at:%Y-%m-%d %H:%M} UTC"
        for what, at in (("it can be read until", note.expires_at), ("it is erased at", note.erase_at))
        if at < NEVER
    ]
    return f"By its policy {note.policy!r} {' and '.join(ends) or 'it has no end'}."


def _holding(note: Note, held: list[Hold]) -> list[Hold]:
    return [one for one in held if any(one.keeps(source.id, source.session) for source in note.sources)]


def _told(note: Note) -> Mapping[str, object]:
    return {name: getattr(note, name) for name in _FIELDS} | {"sources": tuple(one.id for one in note.sources)}


def _replaced(changes: list[Change], story: Story) -> list[Change]:
    """Return the changes of a note, and what took its place where something did, by the decision that let it do so."""
    note = story.note
    by = next((tie.decision for tie in story.ties if tie.newer and tie.note == note.replaced_by), None)
    made = next((one for one in story.decisions if one.id == by), None)
    if not made:
        return changes
    now = {"until": note.until, "replaced_by": note.replaced_by, **({"former": note.former} if note.former else {})}
    at = next((at for at, one in enumerate(changes) if one.decision and one.decision.id == by), None)
    if at is None:
        return sorted([*changes, Change(made.at, {}, now, made)], key=lambda one: one.at)
    changes[at] = replace(changes[at], now={**changes[at].now, **now})
    return changes


def _change(before: Version, after: Version) -> Change:
    was, now = _told(before.note), _told(after.note)
    differing = [name for name in now if was[name] != now[name]]
    return Change(
        after.note.recorded_at,
        {name: was[name] for name in differing},
        {name: now[name] for name in differing},
        after.decision,
    )
