"""Between the graph's rows and the model's objects."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.model.memory import NEVER, TRUE_ONCE, Note, Source, by_time

if TYPE_CHECKING:
    from neo4j.vector import Vector

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SOURCE_TEXTS = ("id", "text", "hash", "kind", "role", "speaker", "session", "seq", "said_as", "caption")
_LIFE_TIMES = ("expires_as", "begins_at")  # told to nobody but the lifecycle, and so stored as milliseconds
_NOTE_TEXTS = ("id", "context", "status", "session", "seq", "speaker", "role")
_NOTE_TIMES = ("said_at", "created_at", "recorded_at", "valid_from", "valid_to")


def source_properties(source: Source) -> dict[str, Any]:
    """Return what is stored of a source, without its identity (scope, id)."""
    return {
        **{name: getattr(source, name) for name in _SOURCE_TEXTS if name != "id"},
        "agent_id": source.agent,
        "said_at": source.said_at,
        "tags": list(source.tags),
        "policy": source.policy,
        "pinned": source.pinned,
        "policy_as": source.policy_as,
        "apart": source.apart,
        **{name: None if (at := getattr(source, name)) is None else milliseconds(at) for name in _LIFE_TIMES},
        "metadata": json.dumps(dict(source.metadata), ensure_ascii=False, sort_keys=True),
    }


def source_from(row: Mapping[str, Any]) -> Source:
    """Return the source that a row of its properties holds, or the passage of it that the row's `part` names."""
    source = Source(
        **{name: row.get(name) for name in _SOURCE_TEXTS},  # type: ignore[arg-type]
        agent=row["agent_id"],
        said_at=None if row.get("said_at") is None else moment(row["said_at"]),
        tags=tuple(row["tags"]),
        metadata=json.loads(row["metadata"]),
        **_life(row),
        policy_as=row.get("policy_as") or "",
        expires_as=_known(row, "expires_as"),
        begins_at=_known(row, "begins_at"),
    )
    return placed(source, row)


def _known(row: Mapping[str, Any], name: str) -> datetime | None:
    return None if row.get(name) is None else moment(row[name])


def _life(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "policy": row["policy"],
        "expires_at": moment(row["expires_at"]),
        "erase_at": moment(row["erase_at"]),
        "pinned": row["pinned"],
        "apart": row.get("apart"),
    }


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
    fields: dict[str, Any] = {name: row[name] for name in _NOTE_TEXTS}
    fields |= {name: moment(row[name]) for name in _NOTE_TIMES}
    fields["status"] = status_of(row)
    fields["superseded_at"] = moment(row["superseded_at"]) if "superseded_at" in row else NEVER
    return Note(
        **fields,
        **_life(row),
        policy_as=row.get("policy_as") or "",
        agent=row["agent_id"],
        raw=tuple(row["raw"]),
        tags=tuple(row["tags"]),
        keywords=tuple(row.get("keywords") or ()),
        sources=tuple(sorted(map(source_from, row.get("sources") or ()), key=by_time)),
        sums=tuple(sorted(row.get("sums") or ())),
    )


def place_of(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page of notes in the order in which they came begins behind, by the row of the last one."""
    return {"after": moment(note["created_at"]), "after_id": note["id"]}


def status_of(row: Mapping[str, Any]) -> str:
    """Return a note's status; "expired" for one that has ended and that no sweep has archived yet."""
    status: str = row["status"]
    return "expired" if row.get("expired") and status in TRUE_ONCE else status


def run_properties(run: Any, texts: Collection[str], without: Collection[str] = ()) -> dict[str, Any]:
    """Return what is stored of a run, without its identity and these, some of it as texts of JSON."""
    kept = ((name, value) for name, value in asdict(run).items() if name not in ("id", "scope", *without))
    return {
        name: json.dumps(value, ensure_ascii=False)
        if name in texts
        else list(value)
        if isinstance(value, tuple)
        else value
        for name, value in kept
    }


def run_from(kind: TypeAdapter[T], row: Mapping[str, Any], texts: Collection[str]) -> T:
    """Return the run that a row of its properties holds, some of it as texts of JSON."""
    return kind.validate_python({**dated(row, "at"), **{name: json.loads(row[name]) for name in texts if name in row}})


def packed(vector: "NDArray[np.float32] | Sequence[float] | None") -> "Vector | None":
    """Return a vector as a statement takes it: four bytes a number, where a list takes nine and an object each.

    None stays None: a note that waits has no vectors.
    """
    from neo4j.vector import Vector

    return None if vector is None else Vector.from_numpy(np.asarray(vector, dtype=np.float32))


def dated(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a row with times for what came as milliseconds since 1970; None stays None."""
    return {**row, **{name: None if row[name] is None else moment(row[name]) for name in names}}


def milliseconds(moment: datetime) -> int:
    """Return a time as milliseconds since 1970: the driver takes longer to pack a temporal value than a vector."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment(milliseconds: int) -> datetime:
    """Return a time that came as milliseconds since 1970: a pool holds thousands, and only the best are looked at."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
