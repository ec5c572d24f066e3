"""Chats of any shape in JSON: lines, or an array (docs/import.md), of messages or of conversations.

A conversation is a list of messages, or an object: with `messages` (fine-tuning files of chat APIs), with turns of
`from` and `value` (ShareGPT), or of an export of ChatGPT (`mapping`, of which a branch is shown) or of Claude.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.graph import sources
from memgraph_engine.importers.run import Come, Record, Run, Told, each, one_by_one, paths_of
from memgraph_engine.importers.values import Values, is_sqlite, iso
from memgraph_engine.ingest.chat import OTHER_NAMES
from memgraph_engine.ingest.items import at_path
from memgraph_engine.ingest.messages import FIELDS, parse_message
from memgraph_engine.ingest.readers import Message, checked
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.ingested import Brought, Fault, Ingested
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.batch import unknown

_LISTS = ("messages", "conversations", "conversation", "chat_messages")
_IDS = ("id", "conversation_id", "session_id", "thread_id", "uuid", "session")
_SPEAKERS = {  # of ShareGPT and exports
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "function_call": "assistant",
    "observation": "tool",
}
_TRAINING = ("weight", "loss", "train")  # fields of a message that say how a model is to learn from it
_TURNS = 1_000_000  # of a tree, which may have a circle

_KNOWN = (*FIELDS, *OTHER_NAMES, "tool_calls", "function_call", "refusal", "audio")
_HINT = " Where fields have other names, say which they are (--text-field, --time-field …)."
_FIRST = 100  # records, in which a field is looked for


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
    named_so = {
        "text": text_field,
        "user": user_field,
        "speaker": speaker_field,
        "role": role_field,
        "time": time_field,
        "id": id_field,
        "session": session_field,
    }
    reader = _Reader(memory, {name: path for name, path in named_so.items() if path})
    whose: Whose = {"user_id": user_id, "shared": shared}
    run = Run[Message](memory, whose, Keeper(dry_run).bring, progress, dry_run)
    paths = paths_of(path)
    for one in paths:
        reader.check(one)
    return run.files(paths, reader.records)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads records as messages.

    `fields` are what ours are called, where that is said: a name, or a path of names with dots between them. Where one
    of them is a message's, what a record has beside these goes into its metadata.
    """

    memory: Memory
    fields: Mapping[str, str]

    @property
    def said(self) -> dict[str, str]:
        """Those of a message, which the user is none of."""
        return {name: path for name, path in self.fields.items() if name != "user"}

    def check(self, path: Path) -> None:
        """Raise InvalidInput for a field that none of the first records has: a misspelt one would be passed over."""
        if is_sqlite(path):
            raise InvalidInput(f"{path} is a database of SQLite; a file of JSON is needed.")
        first = [value for _, value in islice(Values(path), _FIRST if self.fields else 0)]
        records = (value for value in first if isinstance(value, Mapping))
        some = [value for value in records if "text" in self.fields or not is_conversation(value)]
        for name, field in self.fields.items():
            if some and not any(_has(value, field) for value in some):
                raise InvalidInput(
                    f"{path}: none of the first {len(some)} records has the field {field!r} (--{name}-field), so "
                    "nothing was read."
                )

    def records(self, path: Path) -> Iterator[Come[Message]]:
        def read(line: int, value: object) -> list[Come[Message]]:
            try:
                return [self._checked(path, line, user, given) for user, given in self._given(value)]
            except RecursionError:
                return [Fault(str(path), line, "it is nested too deeply")]

        return each(Values(path), read)

    def _checked(self, path: Path, line: int, user: object, given: object) -> Come[Message]:
        settings = self.memory.engine.settings
        name = _name(user)
        if name is None and user is not None:
            return Fault(str(path), line, f"the user is {named(user)}; a name is needed")
        one = checked(path, line, given, settings.timezone, settings.max_text)
        if isinstance(one, Fault):
            others = isinstance(given, Mapping) and not self.said and not given.keys() <= {*_KNOWN}
            return replace(one, reason=one.reason + _HINT) if others else one
        return Record(path, line, name or None, one)

    def _given(self, value: object) -> Iterator[tuple[object, object]]:
        """Yield the messages that a value holds, each with the user whom it names, or the whole names."""
        whole = value if isinstance(value, Mapping) else {}
        if "text" in self.fields or not is_conversation(value):
            yield self._message(value)
            return
        user = self._user(whole)
        session = _name(at_path(whole, self.fields["session"])) if "session" in self.fields else ""
        for turn in turns(value, session or ""):
            own, message = self._message(turn, conversation=True)
            yield user if own is None else own, message

    def _user(self, value: Mapping[str, Any]) -> object:
        found = at_path(value, self.fields.get("user", "user_id"))
        return None if found == "" else found

    def _message(self, value: object, *, conversation: bool = False) -> tuple[object, object]:
        """Return the user whom a record names, and its message; in a conversation fields may have our own names."""
        if not isinstance(value, Mapping):
            return None, value
        said = {name: at_path(value, path) for name, path in self.said.items()}
        if conversation:
            said = {name: one for name, one in said.items() if one is not None}
        rest = _without(value, self.fields.get("user", "user_id"))
        for name in said:
            rest = _without(rest, self.fields[name])
        beside = {name: rest.pop(name) for name in list(rest) if name not in _KNOWN} if self.said else {}
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
class Keeper:
    """Stores messages as `Memory.add_many` does, or finds out which are new."""

    dry_run: bool

    def bring(self, memory: Memory, whose: Whose, records: Sequence[Record[Message]]) -> Brought:
        """Store them together; what is refused, each alone."""

        def add(some: Sequence[Record[Message]]) -> Ingested:
            given = [one.given for one in some]
            return _foreseen(memory, whose, given) if self.dry_run else Ingested.of(memory.add_many(given, **whose))

        return one_by_one(records, add)


def _foreseen(memory: Memory, whose: Whose, messages: Sequence[Message]) -> Ingested:
    engine, settings = memory.engine, memory.engine.settings
    scope = Scope(settings.tenant, whose["user_id"])
    told = {"timezone": settings.timezone, "max_text": settings.max_text, "user": scope.user or ""}
    given = [parse_message(one, "the message", **told) for one in messages]  # type: ignore[arg-type]
    new = unknown(given, sources.known(engine.db, scope.name, (one.id for one in given)))
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


def is_conversation(value: object) -> bool:
    """Tell whether a value holds several messages."""
    if isinstance(value, Mapping):
        lists = any(isinstance(value.get(name), list) for name in _LISTS)
        return lists or (isinstance(value.get("mapping"), Mapping) and "current_node" in value)
    return isinstance(value, list)


def turns(value: Any, session: str = "") -> Iterator[object]:
    """Yield the messages of a conversation in their order, each with the session and an id.

    The session is the one that is given, else the conversation's id, else a hash of what is said in it. A turn without
    an id is known by its place: a conversation that has grown brings what is new.
    """
    own: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    given = _branch(own) if isinstance(own.get("mapping"), Mapping) else _listed(value)
    session = session or next((str(own[name]) for name in _IDS if isinstance(own.get(name), str | int)), "")
    told = json.dumps(given, sort_keys=True, default=str)
    session = session or hashlib.blake2b(told.encode(), digest_size=16).hexdigest()
    for place, one in enumerate(given):
        yield {"id": f"{session}#{place}", "session": session, **_turn(one)} if isinstance(one, Mapping) else one


def _listed(value: Any) -> Sequence[object]:
    if isinstance(value, list):
        return value
    found: list[object] = next(value[name] for name in _LISTS if isinstance(value.get(name), list))
    return found


def _turn(one: Mapping[str, Any]) -> dict[str, object]:
    """Return a message with the names of fields that `Memory.add` knows."""
    if "value" in one and "from" in one:
        return {"role": _role(one["from"]), "content": one["value"]}
    if "sender" in one and "uuid" in one:
        own = {"id": one["uuid"], "role": _role(one["sender"]), "text": one.get("text") or _parts(one.get("content"))}
        return {**own, "time": iso(one.get("created_at"))}
    return {name: _role(said) if name == "role" else said for name, said in one.items() if name not in _TRAINING}


def _role(given: object) -> object:
    return _SPEAKERS.get(given.casefold(), given) if isinstance(given, str) else given


def _parts(given: object) -> str:
    """Return the texts of a content's parts."""
    some = given if isinstance(given, list) else []
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in some)
    return "\n".join(text for text in texts if isinstance(text, str))


def _branch(own: Mapping[str, Any]) -> list[object]:
    """Return the messages that lead to the one that is shown last, without those that were never shown."""
    tree, at, found = own["mapping"], own.get("current_node"), list[object]()
    for _ in range(min(len(tree), _TURNS)):
        node = tree.get(at) if isinstance(at, str) else None
        if not isinstance(node, Mapping):
            break
        if isinstance(node.get("message"), Mapping) and (message := _shown(node["message"], str(at))):
            found.append(message)
        at = node.get("parent")
    return found[::-1]


def _shown(message: Mapping[str, Any], node: str) -> dict[str, object] | None:
    about, author, content = (message.get(name) for name in ("metadata", "author", "content"))
    if isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation"):
        return None
    said = content if isinstance(content, Mapping) else {}
    text = _parts(said.get("parts")) or said.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    role = author.get("role") if isinstance(author, Mapping) else None
    own = {"id": str(message.get("id") or node), "role": role, "text": text, "time": iso(message.get("create_time"))}
    return {name: one for name, one in own.items() if one is not None}
