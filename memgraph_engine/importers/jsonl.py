"""Chats of any shape in JSON: lines, or an array (docs/import.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.graph import sources
from memgraph_engine.importers.chats import is_conversation, turns
from memgraph_engine.importers.run import Come, Record, Run, Share, Told, one_by_one, paths_of
from memgraph_engine.importers.times import iso
from memgraph_engine.importers.values import Values, is_sqlite
from memgraph_engine.ingest.chat import OTHER_NAMES
from memgraph_engine.ingest.items import at_path
from memgraph_engine.ingest.messages import FIELDS, parse_message
from memgraph_engine.ingest.readers import Message, checked
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.ingested import Brought, Fault, Ingested
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.batch import unknown

_KNOWN = (*FIELDS, *OTHER_NAMES, "tool_calls", "function_call", "refusal", "audio")
_HINT = " Where fields have other names, say which they are (--text-field, --time-field …)."
_FIRST = 100  # records, in which a field is looked for
_SOME = 1000  # values, after which it is told how much is read


@dataclass(frozen=True, slots=True)
class Fields:
    """What the fields of a record are called: a name, or a path of names with dots between them; '' is our own name.

    Where one of them is said, what the record has beside them and the fields of a message goes into its metadata.
    """

    text: str = ""
    user: str = ""
    speaker: str = ""
    role: str = ""
    time: str = ""
    id: str = ""
    session: str = ""

    @property
    def any(self) -> bool:
        """Whether one of them is said."""
        return any(asdict(self).values())

    @property
    def said(self) -> dict[str, str]:
        """The fields of a message that have another name."""
        names = ("text", "speaker", "role", "time", "id", "session")
        return {name: path for name in names if (path := getattr(self, name))}


def import_jsonl(
    memory: Memory,
    path: str | Path | Sequence[str | Path],
    *,
    user_id: str | None = None,
    shared: bool = False,
    text_field: str = "",
    user_field: str = "",
    speaker_field: str = "",
    role_field: str = "",
    time_field: str = "",
    id_field: str = "",
    session_field: str = "",
    dry_run: bool = False,
    progress: Told | None = None,
) -> Brought:
    """Remember chats of files of JSON: messages, conversations, or records whose fields are named.

    A record that names a user (`user_id`, or the `user_field`) comes into that user's memory; with a `user_id` only
    those come that name this one or nobody. What can't be read or stored is among the faults, with its line; the rest
    is stored. A `dry_run` writes nothing and tells what would be new. Raises InvalidInput for a file of another kind.

    >>> from memgraph_engine import Memory
    >>> _ = (folder / "mails.jsonl").write_text('{"body": "The ferry leaves at nine.", "to": {"name": "ana"}}')
    >>> with Memory.connect(tenant=tenant) as memory:
    ...     done = import_jsonl(memory, folder / "mails.jsonl", text_field="body", user_field="to.name")
    ...     [note.text for note in memory.get_all(user_id="ana")]
    ['The ferry leaves at nine.']
    """
    named_so = Fields(text_field, user_field, speaker_field, role_field, time_field, id_field, session_field)
    reader = _Reader(memory, named_so)
    keeper = _Keeper(memory)
    run = Run[Message](
        memory, {"user_id": user_id, "shared": shared}, keeper.foresee if dry_run else keeper.add, progress, dry_run
    )
    paths = paths_of(path)
    for one in paths:
        reader.check(one)
    return run.files(paths, reader.records)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads records as messages."""

    memory: Memory
    fields: Fields

    def check(self, path: Path) -> None:
        """Raise InvalidInput for a field that none of the first records has: a misspelt one would be passed over."""
        if is_sqlite(path):
            raise InvalidInput(f"{path} is a database of SQLite; a file of JSON is needed.")
        first = [value for _, value in islice(Values(path), _FIRST if self.fields.any else 0)]
        some = [
            value for value in first if isinstance(value, Mapping) and (self.fields.text or not is_conversation(value))
        ]
        for name, field in asdict(self.fields).items():
            if field and some and not any(_has(value, field) for value in some):
                raise InvalidInput(
                    f"{path}: none of the first {len(some)} records has the field {field!r} (--{name}-field), so "
                    "nothing was read."
                )

    def records(self, path: Path) -> Iterator[Come[Message]]:
        values = Values(path)
        for number, (line, value) in enumerate(values):
            try:
                found = [self._checked(path, line, user, given) for user, given in self._given(value)]
            except RecursionError:
                found = [Fault(str(path), line, "it is nested too deeply")]
            yield from found
            if number % _SOME == 0:
                yield Share(values.share)

    def _checked(self, path: Path, line: int, user: object, given: object) -> Come[Message]:
        settings = self.memory.engine.settings
        name = _name(user)
        if name is None and user is not None:
            return Fault(str(path), line, f"the user is {named(user)}; a name is needed")
        one = checked(path, line, given, settings.timezone, settings.max_text)
        if isinstance(one, Fault):
            others = isinstance(given, Mapping) and not self.fields.said and not given.keys() <= {*_KNOWN}
            return replace(one, reason=one.reason + _HINT) if others else one
        return Record(path, line, name or None, one)

    def _given(self, value: object) -> Iterator[tuple[object, object]]:
        """Yield the messages that a value holds, each with the user whom it names, or the whole names."""
        whole = value if isinstance(value, Mapping) else {}
        if self.fields.text or not is_conversation(value):
            yield self._message(value)
            return
        user = self._user(whole)
        session = _name(at_path(whole, self.fields.session)) if self.fields.session else ""
        for turn in turns(value, session or ""):
            own, message = self._message(turn, conversation=True)
            yield user if own is None else own, message

    def _user(self, value: Mapping[str, Any]) -> object:
        found = at_path(value, self.fields.user or "user_id")
        return None if found == "" else found

    def _message(self, value: object, *, conversation: bool = False) -> tuple[object, object]:
        """Return the user whom a record names, and its message; in a conversation fields may have our own names."""
        if not isinstance(value, Mapping):
            return None, value
        said = {name: at_path(value, path) for name, path in self.fields.said.items()}
        if conversation:
            said = {name: one for name, one in said.items() if one is not None}
        rest = _without(value, self.fields.user or "user_id")
        for name in said:
            rest = _without(rest, self.fields.said[name])
        beside = {name: rest.pop(name) for name in list(rest) if name not in _KNOWN} if self.fields.said else {}
        message = {**rest, **{name: one for name, one in said.items() if one is not None}}
        held = rest.get("metadata")
        if beside and (held is None or isinstance(held, Mapping)):
            message["metadata"] = {**beside, **(held or {})}
        if "time" in message:
            message["time"] = iso(message["time"])
        for name in ("id", "session", "speaker"):
            if (known := _name(message.get(name))) is not None:
                message[name] = known
        return self._user(value), message


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Stores messages as `Memory.add_many` does, or finds out which are new."""

    memory: Memory

    def add(self, whose: Whose, records: Sequence[Record[Message]]) -> Brought:
        return one_by_one(records, lambda some: Ingested.of(self.memory.add_many([one.given for one in some], **whose)))

    def foresee(self, whose: Whose, records: Sequence[Record[Message]]) -> Brought:
        return one_by_one(records, lambda some: self._foreseen(whose, some))

    def _foreseen(self, whose: Whose, records: Sequence[Record[Message]]) -> Ingested:
        engine = self.memory.engine
        scope, settings = Scope(engine.settings.tenant, whose["user_id"]), engine.settings
        given = [
            parse_message(
                one.given, "the message", timezone=settings.timezone, max_text=settings.max_text, user=scope.user or ""
            )
            for one in records
        ]
        seen = sources.look_up(engine.db, scope.name, sorted({one.id for one in given}), [], [])
        known = {id: one for id, one in seen.known.items() if not one.ended} if seen else {}
        new = unknown(given, known)
        return Ingested(added=len(new), repeats=len(given) - len(new))


def _has(value: Mapping[str, Any], path: str) -> bool:
    """Tell whether there is a field at a path, whatever it holds."""
    above, _, name = path.rpartition(".")
    within = at_path(value, above) if above else value
    return path in value or (isinstance(within, Mapping) and name in within)


def _without(value: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return a record without what stands at a path, and without an object in which nothing is left."""
    name, _, below = (path, "", "") if path in value else path.partition(".")
    rest = {key: one for key, one in value.items() if key != name}
    left = _without(value[name], below) if below and isinstance(value.get(name), Mapping) else {}
    return {**rest, name: left} if left else rest


def _name(given: object) -> str | None:
    """Return a name or a number as a name, None for anything else."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return given if isinstance(given, str) else None
