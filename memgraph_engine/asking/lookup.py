"""Look up what a memory holds: by filters, as they are given, or a note, its history, a source, a profile, a topic."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast, get_args

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.graph import claims, decisions, health, notes, sources, topics
from memgraph_engine.ingest.messages import (
    check_metadata,
    check_name,
    check_switches,
    check_tags,
    check_trust,
    parse_instant,
    parse_time,
)
from memgraph_engine.interface.filters import FILTERS, LISTS, NOTE_FILTERS, NoteFilters, SearchFilters, unknown
from memgraph_engine.model.memory import NEVER, READABLE, Note, Source, SourceKind
from memgraph_engine.model.profile import Profile
from memgraph_engine.model.result import Stats, Story, Version
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import Topic
from memgraph_engine.recall.question import NAMES, Filters
from memgraph_engine.trust import TRUST
from memgraph_engine.writing.profile import subject_of


def searching(
    engine: Engine,
    given: SearchFilters,
    known: Sequence[str] = FILTERS,
    arguments: Sequence[str] = ("top_k", "user_id"),
) -> Filters:
    """Return the filters of a search; raises InvalidInput, or TypeError for what is none of the `known` ones."""
    if told := unknown(given, known, arguments):
        raise TypeError(told)
    zone, kind, archived = engine.settings.timezone, given.get("kind"), given.get("archived", False)
    if kind is not None and kind not in get_args(SourceKind):
        raise InvalidInput(f"kind must be one of {', '.join(get_args(SourceKind))}, not {kind!r}.")
    check_switches(archived=archived)
    some: dict[str, Any] = {name: check_tags(given.get(name), name) for name in LISTS}
    classes = {name: engine.policies.shown(some[name], name) for name in ("include", "policy", "not_policy")}
    some |= {name: None if (value := given.get(name)) is None else check_name(value, name) for name in NAMES}
    return Filters(
        **{name: value for name, value in some.items() if name != "include"},
        since=parse_time(given.get("since"), "since", zone),
        until=parse_time(given.get("until"), "until", zone, end=True),
        as_of=parse_instant(given.get("as_of"), "as_of", zone),
        known_at=parse_instant(given.get("known_at"), "known_at", zone),
        kind=kind,
        shown=classes["include"] | classes["policy"],
        metadata=check_metadata(given.get("metadata"), "metadata"),
        archived=archived,
        trust=check_trust(given.get("trust"), "trust")
        or (engine.settings.trust.least if known is FILTERS else TRUST[-1]),
    )


def listing(engine: Engine, given: NoteFilters) -> Filters:
    """Return the filters of a listing; raises as those of a search do."""
    return searching(engine, cast("SearchFilters", given), NOTE_FILTERS, ("user_id",))


def narrowing(engine: Engine, given: NoteFilters) -> Filters:
    """Return the filters of a deletion; raises InvalidInput also for an empty one, which every note would match."""
    if empty := [name for name, value in given.items() if value in (None, [], (), {})]:
        raise InvalidInput(f"{empty[0]} is empty, so every note would be deleted: leave it out if that is meant.")
    return listing(engine, given)


def find(engine: Engine, scope: Scope, id: object, *, gone: bool = False) -> tuple[Scope, Note]:
    """Return a note of the user's own memory, else of the shared one, and which of them it is; raises NotFound.

    With `gone` also one whose creation was undone, as it was last, with that status.
    """
    db, name = engine.db, check_name(id, "id")
    for one in scope.readable:
        if found := notes.find(db, one.name, name):
            return one, found.note
        if gone and (former := notes.former(db, one.name, name)):
            return one, former
        if sources.find(db, one.name, name):
            raise NotFound(f"Source {id!r} of {one} is kept without a note; decisions tells why.")
    raise NotFound(f"There is no note or source {id!r} in the memory of {scope}.")


def get(engine: Engine, scope: Scope, id: str) -> Note:
    """Return a note that can be read; raises NotFound."""
    scope, note = find(engine, scope, id)
    (told,) = decisions.outdated(engine.db, scope.name, [note])
    if note.status not in READABLE:
        by = f" by {told.replaced_by!r}" if told.replaced_by else ""
        raise NotFound(f"{id!r} of {scope} is {note.status}{by}; its `history` shows what it was.")
    return told


def source(engine: Engine, scope: Scope, id: str) -> Source:
    """Return a source as it came; raises NotFound."""
    own = (sources.find(engine.db, one.name, check_name(id, "id")) for one in scope.readable)
    if found := next(filter(None, own), None):
        if found.expires_at <= engine.db.alive():
            raise NotFound(f"Source {id!r} of {scope} has expired; restore brings back its note.")
        return found
    raise NotFound(f"There is no source {id!r} in the memory of {scope}.")


def listed(engine: Engine, scope: Scope, after: str | None, given: NoteFilters) -> Iterator[Note]:
    """Yield the notes of one scope, oldest first, those behind one or all of them, fetched a page at a time."""
    behind = None if after is None else find(engine, scope, after, gone=True)[1]
    db, filters = engine.db, listing(engine, given)
    pages = notes.pages(db, scope.name, filters.listing(), behind=behind)
    return (note for page in pages for note in decisions.outdated(db, scope.name, page) if filters.finds(note))


def history(engine: Engine, scope: Scope, id: str) -> list[Version]:
    """Return all versions of a note, oldest first; raises NotFound."""
    return _versions(engine, *find(engine, scope, id, gone=True))


def story(engine: Engine, scope: Scope, id: str) -> Story:
    """Return how a note came to be what it is; raises NotFound."""
    db = engine.db
    scope, note = find(engine, scope, id, gone=True)
    (note,) = decisions.outdated(db, scope.name, [note])
    made = decisions.told(db, scope.name, note.id, decisions.of_note(db, scope.name, note.id))
    ties = decisions.ties(db, scope.name, note.id)
    return Story(note, tuple(_versions(engine, scope, note)), tuple(made.values()), tuple(ties))


def _versions(engine: Engine, scope: Scope, note: Note) -> list[Version]:
    """Return the versions of a note, with the decisions that made them, as far as they tell of it alone.

    One is left out that tells what is kept apart from this note by now; of one that may quote that, the context is.
    """

    def other(apart: str | None) -> bool:
        return apart not in (None, note.apart)

    db, own = engine.db, {source.key for source in note.sources}
    found = [
        one
        for one in notes.history(db, scope.name, note.id)
        if not any(other(source.apart) for source in one.note.sources if source.key not in own)
    ]
    if found and found[-1].note.superseded_at == NEVER:
        (now,) = decisions.outdated(db, scope.name, [found[-1].note])
        found[-1] = replace(found[-1], note=now)
    made = decisions.told(db, scope.name, note.id, (one.decision for one in found if one.decision))
    return [
        Version(
            replace(one.note, context="\n".join(one.note.raw)) if other(one.note.apart) else one.note,
            made[one.decision.id] if one.decision else None,
        )
        for one in found
    ]


def profile(engine: Engine, scope: Scope, subject: str, known_at: datetime | str | None) -> Profile:
    """Return a profile, as it is known now or was at a time."""
    at = parse_instant(known_at, "known_at", engine.settings.timezone)
    return replace(decisions.profile(engine.db, scope.name, subject_of(scope, subject), at), subject=subject)


def topic(engine: Engine, scope: Scope, id: str) -> Topic:
    """Return a topic with all of its keywords; raises NotFound."""
    if found := topics.find(engine.db, scope.name, check_name(id, "id")):
        return found
    raise NotFound(f"There is no topic {id!r} in the memory of {scope}.")


def stats(engine: Engine, scope: Scope) -> Stats:
    """Count what a memory holds."""
    found = health.stats(engine.db, scope.name, engine.embedder.name)
    shared = claims.general(engine.db, scope.name, engine.settings.claims.users) if found.shares_claims else ()
    return replace(found, shared_claims=len(list(shared)), cache=engine.notes.stats())
