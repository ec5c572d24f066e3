"""mem0's calls over a memory: what is written against `mem0.Memory` and `mem0.AsyncMemory` runs as it is.

The same names, arguments, forms and refusals as mem0 2.2 has them. What differs, and what can't be kept, is in
docs/mem0.md.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from datetime import date
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from urllib.parse import unquote

from memgraph_engine import client
from memgraph_engine.engine.wiring import ungated
from memgraph_engine.errors import InvalidInput, NotFound, named
from memgraph_engine.graph import notes
from memgraph_engine.ingest.chat import ROLES
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.whose import IDENTITIES, Identity
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Hit, Version
from memgraph_engine.model.scope import Scope

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger("memgraph_engine")
_EVENTS = {"merge": "UPDATE", "append": "ADD", "link": "ADD", "supersede": "ADD", "defer": "ADD"}
_THRESHOLD = 0.1
_TOP_K = 20
_UNSET: Any = object()


class MemoryNotFound(NotFound, ValueError):
    """There is no memory of this id; mem0 raises a ValueError then."""

    def __init__(self, memory_id: object) -> None:
        super().__init__(f"Memory with id {memory_id} not found")


class Memory:
    """mem0's Memory over a memory of this engine. `user_id` names a memory, `agent_id` an agent, `run_id` a session.

    What is added without a user belongs to the agent, or to the run, alone.

    >>> from memgraph_engine.integrations.mem0 import Memory as Mem0
    >>> with Mem0(tenant=tenant) as mem0:
    ...     _ = mem0.add("I moved to Lisbon.", user_id="ana")
    ...     mem0.search("Where does Ana live?", filters={"user_id": "ana"})["results"][0]["memory"]
    'I moved to Lisbon.'
    """

    def __init__(self, config: object = None, *, memory: client.Memory | None = None, **connect: Any) -> None:
        """Take a memory, or connect as `memgraph_engine.Memory.connect` does with the same arguments.

        mem0's configuration names other stores and models than there are here: it is not used, and that is logged.
        """
        if config is not None:
            _log.warning("mem0's configuration is not used: Neo4j and the models are named by this engine's settings.")
        self._own = memory is None
        self.memory = client.Memory.connect(**connect) if memory is None else memory
        self._raw = client.Memory(ungated(self.memory.engine))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any], **connect: Any) -> Self:
        """Connect as the settings of this engine say; see `__init__`."""
        return cls(config_dict, **connect)

    def close(self) -> None:
        """Close the connections, where this object opened them."""
        if self._own:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- writing ----------------------------------------------------------------------------

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: object = None,
        agent_id: object = None,
        run_id: object = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, list[dict[str, Any]]]:
        """Remember messages; return the memories that hold them, each with its own text.

        What became of each is in its `event`. With `infer` a repeat, or what says the same as a memory, joins that
        (`NONE`, `UPDATE`), without a model too; else each message is a memory of its own. A `timestamp` is when it was
        said. As in mem0, a message's role, content and name are taken; what has no text or no role of a chat is
        skipped, and what can't be stored. Raises InvalidInput, a ValueError.
        """
        if memory_type is not None:
            raise InvalidInput("There are no procedural memories here: leave memory_type out.")
        if prompt is not None:
            _log.warning("add takes no prompt here: how notes are made is the settings' to say.")
        given = Identity.of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        elif isinstance(messages, Mapping):
            messages = [messages]
        elif not isinstance(messages, Sequence):
            raise InvalidInput(f"messages must be a string, a message, or a list of messages, not {named(messages)}.")
        if metadata is not None and not isinstance(metadata, Mapping):
            raise InvalidInput(f"metadata must be a mapping, not {named(metadata)}.")
        own = {name: value for name, value in (metadata or {}).items() if name not in (*IDENTITIES, "actor_id")}
        fields = {
            "agent": given.agent_id,
            "session": given.run_id,
            "metadata": own,
            "time": timestamp,
            "expires": expiration_date.isoformat() if isinstance(expiration_date, date) else expiration_date,
        }
        some = {name: value for name, value in fields.items() if value}
        longest = self.memory.engine.settings.max_text
        told = [{**some, **one} for given_as in messages if (one := _message(given_as, longest))]
        receipt = (self.memory if infer else self._raw).add_many(told, user_id=given.owner)
        scope = Scope(self.memory.engine.settings.tenant, given.owner)
        made = [note for entry in receipt.entries for note in entry.notes]
        held = {one.found.note.id: one.found.note for one in notes.renderings(self.memory.engine.db, scope.name, made)}
        results = [
            {
                "id": given.id(part.note),
                "memory": held[part.note].text,
                "event": event,
                "actor_id": message.get("name"),
                "role": message.get("role"),
            }
            for message, entry in zip(told, receipt.entries, strict=True)
            for part in entry.passages or [entry]
            if part.note in held and ((event := _EVENTS.get(part.kind, "NONE")) != "NONE" or infer)
        ]
        return {"results": results}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Give a memory another text; its history keeps the former one, and the engine's `undo` brings it back."""
        text = data if text is None else text
        if metadata is not None or expiration_date is not _UNSET:
            raise InvalidInput("Metadata and ends belong to what was said, and can't be changed: give a text alone.")
        if text is None:
            raise InvalidInput("At least one of text, metadata, or expiration_date must be provided.")
        owner, note = _owned(memory_id)
        try:
            self.memory.update(note, text, user_id=owner)
        except NotFound as error:
            raise MemoryNotFound(memory_id) from error
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory: no search finds it, and the engine's `undo` brings it back. To erase it, use `forget`."""
        owner, note = _owned(memory_id)
        try:
            self.memory.delete(note, user_id=owner)
        except NotFound as error:
            raise MemoryNotFound(memory_id) from error
        return {"message": "Memory deleted successfully!"}

    def delete_all(self, user_id: object = None, agent_id: object = None, run_id: object = None) -> dict[str, str]:
        """Delete all memories of a user, an agent or a run."""
        given = Identity.of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        self.memory.delete_all(user_id=given.owner, **given.filters)
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> None:
        """Erase the memories of all users of the tenant for good; receipts tell that it was done."""
        for user in self.memory.users():
            self.memory.erase(self.memory.forget(user_id=user.id, everything=True))

    # ---- reading ----------------------------------------------------------------------------

    def search(
        self,
        /,
        query: str,
        *,
        top_k: int = _TOP_K,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = _THRESHOLD,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **given: Any,
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the memories that answer a query, best first; `filters` name whose they are.

        `score` is the cosine, 0 at least; those below `threshold` are left out. With
        `filters` on metadata it looks at the best 1,000.
        """
        del rerank  # the engine's own second stage is a setting
        _checked(given, "search", top_k, show_expired=show_expired)
        if not isinstance(query, str):
            raise InvalidInput(f"query must be a string, not {named(query)}.")
        if reference_date is not None:
            raise InvalidInput('There is no reference_date here: say the day in the query ("in May 2026").')
        whose, conditions = _split(filters)
        least = _THRESHOLD if threshold is None else threshold
        if not 0 <= least <= 1:
            raise InvalidInput(f"Invalid threshold: {threshold}. It must be between 0 and 1.")
        most = MOST if conditions else top_k
        if not top_k:
            return {"results": []}
        hits = self.memory.search(query.strip(), user_id=whose.owner, top_k=most, explain=explain, **whose.filters)
        found = (
            _item(hit.note, whose)
            | {"score": _score(hit)}
            | ({"score_details": hit.explanation.to_dict()} if hit.explanation else {})
            for hit in hits
            if _score(hit) >= least and _meets(conditions, _payload(hit.note, whose))
        )
        return {"results": list(islice(found, top_k))}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory, or None."""
        try:
            owner, note = _owned(memory_id)
            found = self.memory.get(note, user_id=owner)
        except NotFound:
            return None
        return _item(found, Identity.of_owner(owner))

    def get_all(
        self,
        /,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = _TOP_K,
        show_expired: bool = False,
        **given: Any,
    ) -> dict[str, list[dict[str, Any]]]:
        """Return at most `top_k` memories, the oldest first; `filters` name whose they are."""
        _checked(given, "get_all", top_k, show_expired=show_expired)
        whose, conditions = _split(filters)
        every = self.memory.get_all(user_id=whose.owner, **whose.filters)
        found = (_item(note, whose) for note in every if _meets(conditions, _payload(note, whose)))
        return {"results": list(islice(found, top_k))}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the changes of a memory, the oldest first."""
        owner, note = _owned(memory_id)
        versions = self.memory.history(note, user_id=owner)
        return list(_changes(memory_id, versions))


def _awaited(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def call(self: "AsyncMemory", /, *args: P.args, **given: P.kwargs) -> T:
        return await asyncio.to_thread(method, self.sync, *args, **given)

    return call


class AsyncMemory:
    """mem0's AsyncMemory: each call of `Memory`, in a thread."""

    def __init__(self, config: object = None, *, memory: client.Memory | None = None, **connect: Any) -> None:
        self.sync = Memory(config, memory=memory, **connect)

    @classmethod
    async def from_config(cls, config_dict: Mapping[str, Any], **connect: Any) -> Self:
        """Connect as the settings of this engine say."""
        return await asyncio.to_thread(cls, config_dict, **connect)

    add = _awaited(Memory.add)
    update = _awaited(Memory.update)
    delete = _awaited(Memory.delete)
    delete_all = _awaited(Memory.delete_all)
    reset = _awaited(Memory.reset)
    search = _awaited(Memory.search)
    get = _awaited(Memory.get)
    get_all = _awaited(Memory.get_all)
    history = _awaited(Memory.history)

    def close(self) -> None:
        """Close the connections."""
        self.sync.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)


# ---- whose it is ----------------------------------------------------------------------------


def _owned(memory_id: str) -> tuple[str, str]:
    owner, colon, note = str(memory_id).rpartition(":")
    if not colon or not owner or not note:
        raise MemoryNotFound(memory_id)
    return unquote(owner), note


# ---- filters --------------------------------------------------------------------------------

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda held, wanted: bool(held == wanted),
    "ne": lambda held, wanted: bool(held != wanted),
    "in": lambda held, wanted: held in wanted,
    "nin": lambda held, wanted: held not in wanted,
    "gt": lambda held, wanted: _ordered(held, wanted) and held > wanted,
    "gte": lambda held, wanted: _ordered(held, wanted) and held >= wanted,
    "lt": lambda held, wanted: _ordered(held, wanted) and held < wanted,
    "lte": lambda held, wanted: _ordered(held, wanted) and held <= wanted,
    "contains": lambda held, wanted: _holds(held, wanted),
    "icontains": lambda held, wanted: isinstance(held, str) and str(wanted).casefold() in held.casefold(),
}


def _holds(held: object, wanted: object) -> bool:
    return str(wanted) in held if isinstance(held, str) else isinstance(held, list | tuple) and wanted in held


def _ordered(held: object, wanted: object) -> bool:
    numbers = isinstance(held, int | float) and isinstance(wanted, int | float)
    return numbers or (isinstance(held, str) and isinstance(wanted, str))


def _split(filters: Mapping[str, Any] | None) -> tuple[Identity, dict[str, Any]]:
    """Return whose memories filters mean, and the conditions that are left."""
    if filters is not None and not isinstance(filters, Mapping):
        raise InvalidInput(f"filters must be a mapping, not {named(filters)}.")
    given = dict(filters or {})
    conditions = {name: value for name, value in given.items() if name not in IDENTITIES}
    _check(conditions)
    return Identity.of(given), conditions


def _check(conditions: Mapping[str, Any]) -> None:
    """Raise InvalidInput for what can't be asked."""
    for name, wanted in conditions.items():
        if name in ("AND", "OR", "NOT"):
            if not isinstance(wanted, list) or not wanted or not all(isinstance(one, Mapping) for one in wanted):
                raise InvalidInput(f"{name} operator requires a non-empty list of conditions")
            for one in wanted:
                _check(one)
        elif isinstance(wanted, Mapping):
            for operator, value in wanted.items():
                if operator not in _OPERATORS:
                    raise InvalidInput(f"Unsupported metadata filter operator: {operator}")
                if operator in ("in", "nin") and not isinstance(value, list | tuple | set | frozenset):
                    raise InvalidInput(f"{operator} takes a list of values, not {value!r}.")
            if not wanted:
                raise InvalidInput(f"The filter of {name!r} is empty: give a value, or an operator with one.")


def _meets(conditions: Mapping[str, Any], held: Mapping[str, Any]) -> bool:
    return all(_met(name, wanted, held) for name, wanted in conditions.items())


def _met(name: str, wanted: Any, held: Mapping[str, Any]) -> bool:
    if name == "AND":
        return all(_meets(one, held) for one in wanted)
    if name == "OR":
        return any(_meets(one, held) for one in wanted)
    if name == "NOT":
        return not any(_meets(one, held) for one in wanted)
    if wanted == "*":
        return name in held
    if isinstance(wanted, Mapping):
        return all(_OPERATORS[operator](held.get(name), value) for operator, value in wanted.items())
    return bool(held.get(name) == wanted)


def _checked(given: Mapping[str, Any], call: str, top_k: object, *, show_expired: bool) -> None:
    if named := set(given) & set(IDENTITIES):
        raise InvalidInput(
            f"Top-level entity parameters {named} are not supported in {call}(). "
            "Use filters={'user_id': '...'} instead."
        )
    if given:
        raise TypeError(f"{call}() got an unexpected keyword argument {next(iter(given))!r}")
    if not isinstance(top_k, int) or top_k < 0:
        raise InvalidInput(f"top_k must be a number from 0, not {top_k!r}.")
    if show_expired:
        raise InvalidInput("What has expired can't be read; the engine's restore brings it back.")


# ---- forms ----------------------------------------------------------------------------------


def _message(one: object, longest: int) -> dict[str, str] | None:
    """Return what mem0 takes of a message, as far as it can be stored: without its name, or None if not at all.

    That a message is passed over is logged, unless it is a system's.
    """
    if not isinstance(one, Mapping):
        raise InvalidInput(f"A message is a mapping with a role and a content, not {named(one)}.")
    role, content = ROLES.get(str(one.get("role")).strip().casefold()), one.get("content")
    if isinstance(content, list):
        texts = [part for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        content = " ".join(str(part.get("text") or "") for part in texts)
    if role == "system":
        return None
    if not role or not isinstance(content, str) or not content.strip():
        _log.warning("A message is skipped, since it has %s.", "no text" if role else "no role of a chat")
        return None
    said = {"role": one["role"], "content": content}
    for kept in (*([{**said, "name": str(one["name"])}] if one.get("name") else []), said):
        try:
            parse_message(kept, "it", timezone="UTC", max_text=longest)
        except InvalidInput as error:
            fault = error
        else:
            return kept
    _log.warning("A message is skipped: %s", fault)
    return None


def _payload(note: Note, whose: Identity) -> dict[str, Any]:
    """Return what filters can ask for."""
    own = {
        "user_id": whose.user_id,
        "agent_id": whose.agent_id or note.agent,  # of a repeat, the one by which it was found
        "run_id": whose.run_id or note.session,
        "role": note.role,
        "actor_id": note.speaker,
    }
    return {**note.metadata, **{name: value for name, value in own.items() if value}}


def _item(note: Note, whose: Identity) -> dict[str, Any]:
    form: dict[str, Any] = {
        "id": whose.id(note.id),
        "memory": note.text,
        "hash": hashlib.md5(note.text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": note.created_at.isoformat(),
        "updated_at": note.recorded_at.isoformat(),
    }
    form |= {name: value for name, value in _payload(note, whose).items() if name not in note.metadata}
    return form | ({"metadata": dict(note.metadata)} if note.metadata else {})


def _score(hit: Hit) -> float:
    return max(hit.similarity, 0.0)


def _changes(memory_id: str, versions: Sequence[Version]) -> Iterator[dict[str, Any]]:
    before: str | None = None
    for place, version in enumerate(versions):
        note, decision = version.note, version.decision
        gone = note.status == "deleted"
        now = None if gone else note.text
        yield {
            "id": decision.id if decision else f"{memory_id}:{place}",
            "memory_id": memory_id,
            "old_memory": before,
            "new_memory": now,
            "event": "DELETE" if gone else "UPDATE" if place else "ADD",
            "created_at": note.created_at.isoformat(),
            "updated_at": note.recorded_at.isoformat(),
            "is_deleted": gone,
            "actor_id": note.speaker or None,
            "role": note.role or None,
        }
        before = now
