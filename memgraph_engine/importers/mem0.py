"""mem0's memories: what its `get_all` returns, as JSON, and its history (docs/import.md).

A memory comes with its id, as a note of its own: what mem0 kept apart stays apart. Former texts become former versions.
The engine's own times say when it learned them, and `mem0` in the metadata of each version since when mem0 had it.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.engine.wiring import Engine, ungated
from memgraph_engine.errors import InvalidInput, NotFound, named
from memgraph_engine.graph import sources
from memgraph_engine.importers.run import Come, Left, Record, Run, Told, each, faulty, one_by_one, paths_of, plus
from memgraph_engine.importers.values import Values, columns, is_sqlite, iso, opened
from memgraph_engine.ingest.messages import local, parse_message
from memgraph_engine.ingest.readers import Message, Unread, checked
from memgraph_engine.interface.whose import Identity, Whose
from memgraph_engine.model.ingested import Brought, Fault, Ingested
from memgraph_engine.model.memory import READABLE, UNKNOWN_PAST, Source
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.rewording import update

_LISTS = ("results", "memories")
_SEVERAL = "\0"  # no user's name
_MARK = "mem0"  # of the metadata
_ROLES = ("user", "assistant")
_TAKEN = (
    "id", "memory", "data", "hash", "created_at", "updated_at", "metadata", "user_id", "agent_id", "run_id",
    "actor_id", "role", "categories", "expiration_date", "score", "text_lemmatized", "event",
)  # fmt: skip
_OWN = (
    "hash", "created_at", "updated_at", "user_id", "agent_id", "run_id", "actor_id", "role", "expiration_date",
    "text_lemmatized",
)  # fmt: skip  # of a payload
_CHANGED = "changed here since it came"
_EXPIRED = "expired"
_CONFLICT = (
    "memory {id!r} is stored with another text, and this one is no newer (updated_at): delete what is wrong in the file"
)
_SCRIPT = "docs/import.md has the lines of Python that write all of mem0's memories as JSON"
_HISTORY = frozenset(("memory_id", "old_memory", "new_memory", "created_at", "updated_at"))


def import_mem0(
    memory: Memory,
    path: str | Path | Sequence[str | Path],
    *,
    user_id: str | None = None,
    history_db: str | Path | None = None,
    dry_run: bool = False,
    progress: Told | None = None,
) -> Brought:
    """Bring what mem0's `get_all` returned, as JSON, into the memories of its users.

    A memory that names no user is that of its agent or its run, as for `integrations.mem0`. With a `user_id` only those
    come that name this one or nobody. `history_db` is mem0's `history.db`: it adds former texts. One that mem0 has
    changed since it came gets the new text; one that was changed or deleted here stays so. What can't be read or stored
    is among the faults, with its line; the rest is stored. A `dry_run` writes nothing and tells what would come. Raises
    InvalidInput for a file of another kind.

    >>> from memgraph_engine import Memory
    >>> _ = (folder / "mem0.jsonl").write_text('{"id": "1", "memory": "Lives in Lisbon.", "user_id": "ana"}')
    >>> with Memory.connect(tenant=tenant) as memory:
    ...     done = import_mem0(memory, folder / "mem0.jsonl")
    ...     dict(done.users), memory.get("1", user_id="ana").text
    ({'ana': 1}, 'Lives in Lisbon.')
    """
    with ExitStack() as stack:
        former = None
        if history_db is not None:
            (file,) = paths_of(history_db)
            former = stack.enter_context(opened(file)) if is_sqlite(file) else None
            if not former or not columns(former).get("history", set()) >= _HISTORY:
                raise InvalidInput(f"{file} is no history of mem0: it is the file history.db in ~/.mem0.")
        owners = dict[str, str | None]()
        for file in _files(path) if former else ():  # the same id of two users: the history may be either's
            for one in _records(memory.engine, file):
                if isinstance(one, Record):
                    same = owners.setdefault(one.given["id"], one.user) == one.user
                    owners[one.given["id"]] = one.user if same else _SEVERAL
        keeper = _Keeper(former, dry_run, owners)
        run = Run[Message](memory, {"user_id": user_id, "shared": False}, keeper.bring, progress, dry_run)
        return run.files(_files(path), partial(_records, memory.engine))


def _files(given: object) -> list[Path]:
    """Return the files of JSON; what mem0 keeps in other forms is told how to come here."""
    for path in [given] if isinstance(given, str | Path) else []:
        if Path(path).is_dir():
            raise InvalidInput(
                f"{path} is a folder. The vectors' store is read by mem0 alone (Qdrant's folder holds pickled objects, "
                f"which could run code): {_SCRIPT}."
            )
    paths = paths_of(given)
    for path in filter(is_sqlite, paths):
        with opened(path) as connection:
            tables = columns(connection)
        if "history" in tables:
            raise InvalidInput(
                f"{path} is mem0's history, which names no users: give it as --history-db beside them; {_SCRIPT}."
            )
        if "points" in tables:
            raise InvalidInput(
                f"{path} is the file of a Qdrant folder; it holds pickled objects, which could run code and are not "
                f"read: {_SCRIPT}."
            )
        raise InvalidInput(f"{path} is a database of SQLite, and none of mem0's: {_SCRIPT}.")
    return paths


# ---- reading --------------------------------------------------------------------------------


def _records(engine: Engine, path: Path) -> Iterator[Come[Message]]:
    """Yield mem0's memories as messages."""
    return each(Values(path, _LISTS), lambda line, value: [_record(engine, path, line, value)])


def _record(engine: Engine, path: Path, line: int, value: object) -> Come[Message]:
    if not isinstance(value, Mapping):
        why = value if isinstance(value, Unread) else f"this is {named(value)}; a memory of mem0 is needed"
        return Fault(str(path), line, why)
    one = _of_row(value) if isinstance(value.get("payload"), Mapping) else value
    zone = engine.settings.timezone
    if _ended(one.get("expiration_date"), local(engine.now(), zone).date()):
        return Left(_EXPIRED)
    try:
        message = checked(path, line, _message(one), zone, engine.settings.max_text)
        return message if isinstance(message, Fault) else Record(path, line, _user(one), message)
    except (InvalidInput, RecursionError) as error:
        return Fault(str(path), line, str(error))


def _of_row(row: Mapping[str, Any]) -> dict[str, object]:
    """Return a row of a store of vectors as `get_all` gives it: beside mem0's own fields stand those of the user."""
    payload: Mapping[str, object] = row["payload"]
    own = {name: payload[name] for name in _OWN if name in payload}
    metadata = {name: said for name, said in payload.items() if name not in (*_OWN, "data")}
    return {**own, "id": row.get("id"), "memory": payload.get("data"), "metadata": metadata}


def _user(one: Mapping[str, Any]) -> str | None:
    """Return whose a memory is, None if it does not say."""
    told = {name: one[name] for name in ("user_id", "agent_id", "run_id") if one.get(name) not in (None, "")}
    for name, value in told.items():
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise InvalidInput(f"{name} is {named(value)}; a name is needed")
        if str(value) != str(value).strip():
            raise InvalidInput(f"{name} is {value!r}: mem0 has no names with spaces around them")
    return Identity.of(told).owner if told else None


def _message(one: Mapping[str, Any]) -> dict[str, object]:
    """Return a memory as `Memory.add` takes it; raises InvalidInput."""
    text = next((one[name] for name in ("memory", "data") if one.get(name) is not None), None)
    if not isinstance(one.get("id"), str | int) or not isinstance(text, str):
        raise InvalidInput("this is no memory of mem0, which has an id and a memory, both of them strings")
    metadata, tags = one.get("metadata"), one.get("categories")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput(f"its metadata are {named(metadata)}; a mapping is needed")
    rest = {name: said for name, said in one.items() if name not in (*_TAKEN, "payload", "vector")}
    role, created, day = one.get("role"), iso(one.get("created_at")), one.get("expiration_date")
    told = {
        "id": str(one["id"]),
        "text": text,
        "speaker": one.get("actor_id"),
        "role": role if role in _ROLES else None,
        "agent": _said(one.get("agent_id")),
        "session": _said(one.get("run_id")),
        "time": created,
        "expires": None if day == "" else day[:10] if isinstance(day, str) else day,  # a time of it is not told apart
        "tags": tags if isinstance(tags, list) else None,
        "metadata": {
            **{name: said for name, said in rest.items() if said not in (None, "", [], {})},
            **(metadata or {}),
            **({"role": role} if role and role not in _ROLES else {}),
            _MARK: _mark(text, iso(one.get("updated_at")) or created),
        },
    }
    return {name: said for name, said in told.items() if said is not None}


def _said(name: object) -> str | None:
    return None if name in (None, "") else str(name)


def _mark(text: str, since: object) -> dict[str, object]:
    """Return what tells since when mem0 had a text, and which."""
    return {"hash": _md5(text), "updated_at": since}


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()


def _ended(day: object, today: date) -> bool:
    """Tell whether a memory has ended; its last day is still one of its own."""
    try:
        return isinstance(day, str) and date.fromisoformat(day[:10]) < today
    except ValueError:
        return False


# ---- writing --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Stores memories and their former texts, or finds out what would come."""

    history: sqlite3.Connection | None
    dry_run: bool
    owners: Mapping[str, str | None]

    def bring(self, memory: Memory, whose: Whose, records: Sequence[Record[Message]]) -> Brought:
        engine = memory.engine
        scope = Scope(engine.settings.tenant, whose["user_id"])
        known = sources.known(engine.db, scope.name, (one.given["id"] for one in records))
        former = self._former([one.given["id"] for one in records])
        new = dict[str, Record[Message]]()
        rest = list[tuple[Record[Message], list[Message], bool]]()
        for record in records:
            id = record.given["id"]
            own = id in former and self.owners.get(id) == record.user
            versions = self._versions(engine, record.given, former[id] if own else ())
            first = id not in known and id not in new
            if first:
                new[id] = replace(record, given=versions[0])
            if not first or len(versions) > 1:
                rest.append((record, versions, first))
        done = self._added(engine, whose, list(new.values()))
        for record, versions, first in rest:
            one = self._followed(engine, scope, record, versions, known.get(record.given["id"]))
            # what is new is counted as that, however many texts it had
            done = plus(done, replace(one, done=replace(one.done, updated=0, repeats=0)) if first else one)
        return done

    def _added(self, engine: Engine, whose: Whose, new: Sequence[Record[Message]]) -> Brought:
        if self.dry_run or not new:
            return Brought(done=Ingested(added=len(new)))
        memory = Memory(ungated(engine))
        return one_by_one(new, lambda some: Ingested.of(memory.add_many([one.given for one in some], **whose)))

    def _followed(
        self,
        engine: Engine,
        scope: Scope,
        record: Record[Message],
        versions: Sequence[Message],
        known: sources.Known | None,
    ) -> Brought:
        """Give a memory that is stored the texts that mem0 gave it since; tell what came of it."""
        repeat = Brought(done=Ingested(repeats=1))
        if known and len(versions) == 1 and _source(engine, scope, versions[0]).hash == known.hashes[0]:
            return repeat
        stored = sources.find(engine.db, scope.name, record.given["id"])
        if stored is None:  # it could not be stored, or is not to be
            return repeat
        mark = stored.metadata.get(_MARK)
        hashes = {*(known.hashes if known else ()), stored.hash}
        if known and known.notes and not any(status in READABLE for _, status in known.notes):
            return repeat
        if not isinstance(mark, Mapping) or _md5(stored.text) != mark.get("hash"):
            return repeat if _source(engine, scope, versions[-1]).hash in hashes else Brought(left={_CHANGED: 1})
        later = _later(versions, stored.text, _moment(mark.get("updated_at")))
        if not later:
            same = versions[-1]["text"] == stored.text or _source(engine, scope, versions[-1]).hash in hashes
            return repeat if same else faulty(record.fault(_CONFLICT.format(id=stored.id)))
        try:
            for one in [] if self.dry_run else later:
                update(engine, scope, stored.id, one["text"], _source(engine, scope, one))
        except (InvalidInput, NotFound) as error:
            return faulty(record.fault(error))
        return Brought(done=Ingested(updated=1))

    # ---- history ----------------------------------------------------------------------------

    def _former(self, ids: Sequence[str]) -> dict[str, list[tuple[str, object]]]:
        """Return the texts that memories had, each with the time from which on, the oldest first."""
        found = dict[str, list[tuple[str, object]]]()
        if self.history is None:
            return found
        rows = self.history.execute(
            "SELECT memory_id, old_memory, new_memory, created_at, updated_at FROM history "
            "WHERE memory_id IN (SELECT value FROM json_each(?)) ORDER BY rowid",
            [json.dumps(ids)],
        )
        for id, old, new, created, updated in (map(_text, row) for row in rows):
            texts = found.setdefault(str(id), [])
            if old and not texts:
                texts.append((old, iso(created)))
            if new:
                texts.append((new, iso(updated) or iso(created)))
        return found

    def _versions(self, engine: Engine, message: Message, former: Sequence[tuple[str, object]]) -> list[Message]:
        """Return a memory as it was, text by text; the last one is as it came.

        A history that does not lead to what it says now is another's, and tells nothing here.
        """
        chain = sorted(former, key=lambda one: _moment(one[1]))
        last = max((at for at, (text, _) in enumerate(chain) if text == message["text"]), default=-1)
        found = list[Message]()
        for text, since in chain[: last + 1]:
            version = {**message, "text": text, "metadata": {**message["metadata"], _MARK: _mark(text, since)}}
            fits = isinstance(checked(Path(), 0, version, "UTC", engine.settings.max_text), dict)
            if fits and (not found or found[-1]["text"] != text):
                found.append(version)
        return found or [message]


def _source(engine: Engine, scope: Scope, message: Message) -> Source:
    settings = engine.settings
    zone, most = settings.timezone, settings.max_text
    return parse_message(message, "the memory", timezone=zone, max_text=most, user=scope.user or "")


def _later(versions: Sequence[Message], text: str, since: datetime) -> list[Message]:
    """Return the versions after a time, of which each says something else than the one before."""
    found = list[Message]()
    for one in versions:
        if _moment(one["metadata"][_MARK]["updated_at"]) > since and one["text"] != text:
            found.append(one)
            text = one["text"]
    return found


def _moment(since: object) -> datetime:
    try:
        moment = datetime.fromisoformat(since) if isinstance(since, str) else UNKNOWN_PAST
    except ValueError:
        return UNKNOWN_PAST
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(given: object) -> str | None:
    return given.decode(errors="replace") if isinstance(given, bytes) else None
