"""A memory as the memory service of Google's Agent Development Kit (docs/agents.md)."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from memgraph_engine.client import Memory
from memgraph_engine.model.answer import Cited

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

_USER = "user"  # the author of what the user says; of all else it is the agent's name


class MemgraphMemoryService(BaseMemoryService):
    """Keeps the sessions of an ADK runner, and finds what was said in them.

    Each user of each app has a memory of its own, named `app/user`. An event is known by its id: a session that is
    added again, or as it grows, adds what is new. Events without text are left out, and so are pieces of a stream.
    A search returns what a `context` of `budget` tokens would hold: nothing that is not relevant.
    """

    def __init__(self, memory: Memory, *, budget: int | None = None) -> None:
        self.memory, self.budget = memory, budget

    async def add_session_to_memory(self, session: "Session") -> None:
        """Remember what a session holds and is not known yet."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: "Sequence[Event]",
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember some events of a session."""
        some = [_message(event, text, session_id, custom_metadata) for event in events if (text := _text(event))]
        await asyncio.to_thread(self.memory.add_many, some, user_id=_owner(app_name, user_id))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember texts that belong to no session."""
        some = [
            {
                **_fields(id=one.id, time=one.timestamp),
                "text": text,
                "role": _role(one.author or _USER),
                "metadata": {**one.custom_metadata, **(custom_metadata or {})},
            }
            for one in memories
            if (text := _joined(one.content))
        ]
        await asyncio.to_thread(self.memory.add_many, some, user_id=_owner(app_name, user_id))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what the memory of a user holds on a query, the best first."""
        found = await asyncio.to_thread(
            self.memory.context, query, user_id=_owner(app_name, user_id), budget=self.budget
        )
        return SearchMemoryResponse(memories=[_entry(one) for one in found.entries])


def _owner(app_name: str, user_id: str) -> str:
    return f"{quote(app_name, safe='')}/{quote(user_id, safe='')}"


def _role(author: str) -> str:
    return "user" if author == _USER else "assistant"


def _fields(**given: object) -> dict[str, object]:
    return {name: value for name, value in given.items() if value}


def _message(
    event: "Event", text: str, session: str | None, metadata: Mapping[str, object] | None
) -> dict[str, object]:
    role = _role(event.author)
    time = datetime.fromtimestamp(event.timestamp, UTC) if event.timestamp else None
    agent = event.author if role == "assistant" else None
    return {
        **_fields(id=event.id, session=session, time=time, agent=agent, metadata=metadata),
        "text": text,
        "role": role,
    }


def _text(event: "Event") -> str:
    return "" if event.partial else _joined(event.content)


def _joined(content: types.Content | None) -> str:
    parts: Sequence[Any] = (content.parts or ()) if content else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(one: Cited) -> MemoryEntry:
    note = one.note
    by_model = note.role == "assistant"
    content = types.Content(role="model" if by_model else "user", parts=[types.Part(text=one.line)])
    return MemoryEntry(
        content=content,
        id=note.id,
        author=(note.agent or "assistant") if by_model else _USER,
        timestamp=note.said_at.isoformat(),
        custom_metadata=dict(note.metadata),
    )
