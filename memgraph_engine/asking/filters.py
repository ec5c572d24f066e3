"""The filters of searches and listings, as callers give them, checked."""

from collections.abc import Sequence
from typing import Any, cast, get_args

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest.messages import (
    check_metadata,
    check_name,
    check_switches,
    check_tags,
    parse_instant,
    parse_time,
)
from memgraph_engine.interface.filters import FILTERS, LISTS, NOTE_FILTERS, NoteFilters, SearchFilters, unknown
from memgraph_engine.model.memory import SourceKind
from memgraph_engine.recall.question import NAMES, Filters


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
    )


def listing(engine: Engine, given: NoteFilters) -> Filters:
    """Return the filters of a listing; raises as those of a search do."""
    return searching(engine, cast("SearchFilters", given), NOTE_FILTERS, ("user_id",))


def narrowing(engine: Engine, given: NoteFilters) -> Filters:
    """Return the filters of a deletion; raises InvalidInput also for an empty one, which every note would match."""
    if empty := [name for name, value in given.items() if value in (None, [], (), {})]:
        raise InvalidInput(f"{empty[0]} is empty, so every note would be deleted: leave it out if that is meant.")
    return listing(engine, given)
