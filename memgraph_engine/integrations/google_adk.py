"""Google ADK's memory service on a memory (docs/google-adk.md): events are messages, entries are notes."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, needed
from memgraph_engine.interface.defaults import TOP_K
from memgraph_engine.interface.whose import user_of
from memgraph_engine.model.result import Hit

with needed("A memory service of Google ADK", "google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

_USER = "user"  # what ADK calls the author of a user's events


class MemgraphMemoryService(BaseMemoryService):
    """Remembers what was said in ADK's sessions, and finds the `top_k` best notes for a query.

    Each user of each app has a memory of its own, whose `user_id` is the app and the user, joined by a slash. A session
    may be added again and again: an event that is known already is recognised by its id.
    """

    def __init__(self, memory: Memory, *, top_k: int = TOP_K) -> None:
        self._memory, self._top_k = memory, top_k

    async def add_session_to_memory(self, session: "Session") -> None:
        """Remember the events of a session that have words."""
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
        """Remember the events that have words, all of them or none; `custom_metadata` stays with each."""
        told = [_message(event, user_id, session_id or "", custom_metadata or {}) for event in events]
        await self._add(app_name, user_id, [one for one in told if one])

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember entries as messages of their authors."""
        told = []
        for entry in memories:
            given = {"id": entry.id, "speaker": entry.author, "time": entry.timestamp}
            metadata = {**(custom_metadata or {}), **entry.custom_metadata}
            message = {"text": _words(entry.content), **{name: one for name, one in given.items() if one}}
            told.append({**message, "metadata": metadata})
        await self._add(app_name, user_id, told)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the notes of a user of an app that answer a query best, the best first; none for one without words."""
        if not query.strip():
            return SearchMemoryResponse()
        whose = user_of((app_name, user_id))
        hits = await asyncio.to_thread(self._memory.search, query, user_id=whose, top_k=self._top_k)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a note, by the id of its entry. `Memory.undo` brings it back; `forget` and `erase` leave nothing."""
        if memory_id is None:
            raise InvalidInput("delete_memory takes the id of an entry (memory_id).")
        await asyncio.to_thread(self._memory.delete, memory_id, user_id=user_of((app_name, user_id)))

    async def _add(self, app: str, user: str, messages: Sequence[Mapping[str, object]]) -> None:
        if messages:
            await asyncio.to_thread(self._memory.add_many, messages, user_id=user_of((app, user)))


def _message(event: "Event", user: str, session: str, metadata: Mapping[str, object]) -> dict[str, Any] | None:
    """Return an event as a message; None for one without words, such as a call of a tool, or one that is not whole."""
    text = _words(event.content)
    if not text.strip() or event.partial:
        return None
    role = _USER if event.author == _USER else "assistant"
    return {
        "id": user_of((session, event.id)) if session else event.id,
        "text": text,
        "role": role,
        "speaker": user if role == _USER else event.author,
        "agent": "" if role == _USER else event.author,
        "session": session,
        "time": datetime.fromtimestamp(event.timestamp, UTC),
        "metadata": metadata,
    }


def _words(content: types.Content | None) -> str:
    """Return the words of what was said, without a model's thoughts."""
    parts: Iterable[types.Part] = (content.parts if content else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(hit: Hit) -> MemoryEntry:
    note = hit.note
    role = "model" if note.role == "assistant" else _USER
    return MemoryEntry(
        content=types.Content(role=role, parts=[types.Part(text=note.text)]),
        id=note.id,
        author=note.speaker or None,
        timestamp=note.said_at.isoformat(),
        custom_metadata={
            **note.metadata,
            "sources": [source.id for source in note.sources],
            "session": note.session,
            "score": hit.score,
            "until": note.until.isoformat() if note.until else None,
        },
    )
