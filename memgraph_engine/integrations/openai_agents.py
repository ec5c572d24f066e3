"""A session of OpenAI's Agents SDK in a user's memory (docs/openai-agents.md): the exact transcript of a conversation.

It imports nothing of that SDK, whose `Session` is a protocol.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any

from memgraph_engine.asking.items import ItemReader
from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.ingest.chat import ROLES, TEXTS
from memgraph_engine.ingest.items import as_json, check_ttl
from memgraph_engine.ingest.messages import check_name
from memgraph_engine.model.item import SESSIONS, Item, Put, source_id
from memgraph_engine.model.scope import scope_of
from memgraph_engine.settings import GateSettings
from memgraph_engine.writing.items import ItemWriter

Entry = dict[str, Any]
"""What the SDK gives and takes: a message, a call of a tool, or what came of one."""
_numbers = count()


class MemgraphSession:
    """What was said in a session, in its order, as it was given; pass it to the SDK's `Runner.run(session=…)`.

    It is kept in the memory of `user_id`, and goes with that. The words of messages are found by `Memory.search`,
    unless they are not to be `found`: of users and assistants, or as the setting `gate.noted_roles` says. With a `ttl`,
    each entry ends so long after it was read last.
    """

    session_settings: Any = None

    def __init__(
        self, memory: Memory, session_id: str, *, user_id: str, found: bool = True, ttl: timedelta | None = None
    ) -> None:
        if not check_name(session_id, "session_id"):
            raise InvalidInput("session_id is empty; say which session is meant.")
        self.session_id = session_id
        self._begins = session_id.replace("%", "%25").replace("/", "%2F") + "/"
        self._scope = scope_of(memory.engine.settings.tenant, user_id)
        self._gate = memory.engine.settings.gate
        self._found, self._ttl = found, check_ttl(ttl, "ttl")
        self._reader, self._writer = ItemReader(memory.engine, SESSIONS), ItemWriter(memory.engine, SESSIONS)

    async def get_items(self, limit: int | None = None) -> list[Entry]:
        """Return the entries, the oldest first: all of them, or the last ones."""
        return await asyncio.to_thread(self._entries, limit)

    async def add_items(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Add entries behind those that there are, all of them or none."""
        await asyncio.to_thread(self._add, list(items))

    async def pop_item(self) -> Entry | None:
        """Take away the last entry and return it; None if there is none. `Memory.undo` brings it back."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Take away all entries. `Memory.forget` and `erase` leave nothing of them."""
        await asyncio.to_thread(self._clear)

    # ---- inside -----------------------------------------------------------------------------

    def _stored(self) -> list[Item]:
        return sorted(self._reader.begun(self._scope, self._begins), key=lambda item: item.key)

    def _entries(self, limit: int | None) -> list[Entry]:
        stored = self._stored()
        last = stored if limit is None else stored[len(stored) - min(limit, len(stored)) :]
        self._writer.read(last)
        return [json.loads(item.value) for item in last]

    def _add(self, items: Sequence[Mapping[str, Any]]) -> None:
        self._writer.put(self._scope, [self._put(item) for item in items])

    def _put(self, item: Mapping[str, Any]) -> Put:
        if not isinstance(item, Mapping):
            raise InvalidInput(f"An entry of a session is a mapping, not {named(item)}.")
        value = as_json(dict(item), "An entry of a session")
        key = f"{self._begins}{time.time_ns():020d}-{next(_numbers):09d}"
        check_name(source_id(SESSIONS, key), "session_id")
        return Put(key, value, tuple(_said(item, self._gate)) if self._found else (), self._ttl)

    def _pop(self) -> Entry | None:
        while stored := self._stored():
            if self._writer.remove(self._scope, [stored[-1].key]):  # else somebody else took it meanwhile
                entry: Entry = json.loads(stored[-1].value)
                return entry
        return None

    def _clear(self) -> None:
        self._writer.remove(self._scope, [item.key for item in self._stored()])


def _said(item: Mapping[str, Any], gate: GateSettings) -> list[str]:
    """Return the words of a message whose role makes notes; calls of tools, their results and thoughts are none."""
    role = str(item.get("role") or "")
    if item.get("type", "message") != "message" or not gate.noted(ROLES.get(role, role)):
        return []
    content = item.get("content")
    parts = [{"text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = (part.get(TEXTS.get(str(part.get("type", "text")), "")) for part in parts if isinstance(part, Mapping))
    return [text for text in texts if isinstance(text, str)]
