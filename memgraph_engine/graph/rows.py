"""Between the graph's rows and the model's objects."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.model.memory import NEVER, TRUE_ONCE, Note, Source, by_time
from memgraph_engine.model.result import Decision
from memgraph_engine.trust import Trust, by_origin, least

if TYPE_CHECKING:
    from neo4j.vector import Vector

T = TypeVar("T")

_PLAIN = str, int, float, datetime
_as_text = json.JSONEncoder(ensure_ascii=False, default=asdict).encode
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AS_THEY_ARE = (
    *("text", "hash", "kind", "role", "speaker", "session", "seq", "said_as", "said_at", "caption"),
    *("policy", "pinned", "policy_as", "policy_by", "apart"),
)
_LIFE_TIMES = ("expires_as", "begins_at")  # told to nobody but the lifecycle, and so stored as milliseconds


def source_properties(source: Source) -> dict[str, Any]:
    """Return what is stored of a source, without its identity (scope, id)."""
    return {
        **{name: getattr(source, name) for name in _AS_THEY_ARE},
        "agent_id": source.agent,
        "tags": list(source.tags),
        "trust_as": source.trust_as or None,
        **{name: None if (at := getattr(source, name)) is None else milliseconds(at) for name in _LIFE_TIMES},
        "metadata": json.dumps(dict(source.metadata), ensure_ascii=False, sort_keys=True),
    }


def made(kind: type[T], row: Mapping[str, Any], **given: Any) -> T:
    """Return the object of a kind that a row holds, by the names and types of its fields, but for those that are given.

    Times are milliseconds since 1970, and what holds others may be a text of JSON. What is null, or not there, is None
    where it can be, else as it is by default; null without a default is None. What else the row has is left out.
    """
    return kind(**_values(kind, row, given), **given)


def _values(kind: Any, row: Mapping[str, Any], without: Collection[str] = ()) -> dict[str, Any]:
    found = dict[str, Any]()
    for name, read, optional, needed in _readers(kind):
        value = row.get(name)
        if name in without:
            continue
        if value is not None:
            found[name] = read(value) if read else value
        elif optional or (needed and name in row):
            found[name] = None
    return found


@cache
def _readers(kind: Any) -> list[tuple[str, Callable[[Any], Any] | None, bool, bool]]:
    """Return of each field of a dataclass its name, what reads it, whether it can be None, and has no default."""
    hints = {name: (_reader(hint), NoneType in get_args(hint)) for name, hint in get_type_hints(kind).items()}
    return [(one.name, *hints[one.name], one.default is one.default_factory is MISSING) for one in fields(kind)]


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """Return what makes a value of a type of what a row has for it; None where that is the same."""
    origin, inner = get_origin(hint), get_args(hint)
    own: dict[Any, Any] = {datetime: _time, Source: source_from, Note: note_from, Decision: decision_from}
    if hint in own:
        return cast("Callable[[Any], Any]", own[hint])
    if origin in (Union, UnionType):
        return _reader(inner[0])
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda some: made(hint, _parsed(some))
    if origin is tuple and inner[-1] is not Ellipsis:
        reads = [_reader(one) for one in inner]
        return lambda some: tuple(read(one) if read else one for read, one in zip(reads, some, strict=True))
    if origin in (tuple, frozenset, Sequence):
        one, several = _reader(inner[0]), list if origin is Sequence else origin
        return lambda some: several(map(one, _parsed(some)) if one else _parsed(some))
    if origin is Mapping:
        value = _reader(inner[1])
        return lambda some: {name: value(one) if value else one for name, one in _parsed(some).items()}
    return None


def _parsed(some: Any) -> Any:
    return json.loads(some) if isinstance(some, str) else some


def _time(at: int | str) -> datetime:
    return datetime.fromisoformat(at) if isinstance(at, str) else moment(at)


def source_from(row: Mapping[str, Any]) -> Source:
    """Return the source that a row of its properties holds, or the passage of it that the row's `part` names."""
    known = _values(Source, row, ["part"])
    return placed(Source(**{"hash": "", **known, "agent": row.get("agent_id") or ""}), row)


def trust_of(rows: Sequence[Mapping[str, Any]]) -> Trust:
    """Return how far a note is trusted, by kind, role and class of its sources."""
    return least(row["trust_as"] or by_origin(row["kind"], row["role"]) for row in rows)


def placed(source: Source, row: Mapping[str, Any]) -> Source:
    """Return a source whose text is a passage's alone, with its place: the row has the `part` and all `cuts`."""
    cuts = row.get("cuts")
    if not cuts or "part" not in row:
        return source
    part = row["part"] or 0
    start = (0, *cuts)[part]
    caption = "" if part else source.caption
    return replace(source, caption=caption, part=part, span=(start, start + len(source.text)))


def note_from(row: Mapping[str, Any]) -> Note:
    """Return the note that a row of its properties, with `sources` and perhaps `keywords`, holds."""
    known = {"superseded_at": NEVER, **_values(Note, row), "status": status_of(row), "agent": row["agent_id"]}
    sources, sums = sorted(known.get("sources", ()), key=by_time), sorted(known.get("sums", ()))
    return Note(**{**known, "sources": tuple(sources), "sums": tuple(sums)})


def decision_from(row: Mapping[str, Any]) -> Decision:
    """Return the decision that a row of its properties holds; what it cost is among them."""
    return made(Decision, {"note": "", **row, "cost": row})


def place_of(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page of notes in the order in which they came begins behind, by the row of the last one."""
    return {"after": moment(note["created_at"]), "after_id": note["id"]}


def status_of(row: Mapping[str, Any]) -> str:
    """Return a note's status; "expired" for one that has ended and that no sweep has archived yet."""
    status: str = row["status"]
    return "expired" if row.get("expired") and status in TRUE_ONCE else status


def stored(one: Any, *without: str) -> dict[str, Any]:
    """Return what is stored of an object, but its id, its scope and these fields: what `made` makes it of again."""
    kind: Any = type(one)
    told = ((name, texts, getattr(one, name)) for name, texts in _stored_fields(kind) if name not in without)
    return {
        name: list(value) if texts else value if value is None or isinstance(value, _PLAIN) else _as_text(value)
        for name, texts, value in told
    }


@cache
def _stored_fields(kind: Any) -> list[tuple[str, bool]]:
    """Return the names of the fields that are stored, and which of them are texts."""
    hints = get_type_hints(kind)
    return [(one.name, hints[one.name] == tuple[str, ...]) for one in fields(kind) if one.name not in ("id", "scope")]


def packed(vector: "NDArray[np.float32] | Sequence[float] | None") -> "Vector | None":
    """Return a vector as a statement takes it: four bytes a number, where a list takes nine and an object each.

    None stays None: a note that waits has no vectors.
    """
    from neo4j.vector import Vector

    return None if vector is None else Vector.from_numpy(np.asarray(vector, dtype=np.float32))


def milliseconds(moment: datetime) -> int:
    """Return a time as milliseconds since 1970: the driver takes longer to pack a temporal value than a vector."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment(milliseconds: int) -> datetime:
    """Return a time that came as milliseconds since 1970: a pool holds thousands, and only the best are looked at."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
