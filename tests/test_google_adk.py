"""Google ADK's memory service: sessions are remembered once, and found by the app and the user whose they are."""

import asyncio

import pytest

from memgraph_engine import NotFound

pytest.importorskip("google.adk.memory", reason="run by make test-google-adk")

from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from memgraph_engine.integrations.google_adk import MemgraphMemoryService

pytestmark = pytest.mark.google_adk


def event(n, author, *parts, **more):
    return Event(id=f"e{n}", author=author, timestamp=1_700_000_000.0 + n, content=types.Content(parts=parts), **more)


EVENTS = [
    event(0, "user", types.Part(text="I moved to Lisbon.")),
    event(1, "guide", types.Part(text="What a secret thought.", thought=True), types.Part(text="The sea is near you.")),
    event(2, "guide", types.Part(function_call=types.FunctionCall(name="weather", args={}))),
    event(3, "guide", types.Part(text="The"), partial=True),
]


def session(app="app", user="ana", events=EVENTS):
    return Session(id="s1", app_name=app, user_id=user, events=events)


@pytest.fixture
def service(memory):
    return MemgraphMemoryService(memory, top_k=5)


def ask(service, query="Where do I live?", app="app", user="ana"):
    return asyncio.run(service.search_memory(app_name=app, user_id=user, query=query)).memories


def test_a_session_is_remembered_once_however_often_it_is_added(service, memory):
    for upto in (1, 4, 4):
        asyncio.run(service.add_session_to_memory(session(events=EVENTS[:upto])))
    assert [note.text for note in memory.get_all(user_id="app/ana")] == ["I moved to Lisbon.", "The sea is near you."]
    first = ask(service)[0]
    assert first.content.parts[0].text == "I moved to Lisbon."
    assert (first.author, first.timestamp[:10]) == ("ana", "2023-11-14")
    assert first.custom_metadata["sources"] == ["s1/e0"]
    assert memory.explain(first.id, user_id="app/ana").note.id == first.id


def test_apps_and_users_are_kept_apart(service):
    for app, user in (("app", "ana"), ("app", "bo"), ("app/ana", "x"), ("ap", "p/ana")):
        asyncio.run(service.add_session_to_memory(session(app, user)))
    assert ask(service, app="app", user="ann") == []
    assert len(ask(service, app="app", user="ana")) == 2
    asyncio.run(service.delete_memory(app_name="app", user_id="ana", memory_id=ask(service)[0].id))
    assert [len(ask(service, app=app, user=user)) for app, user in (("app", "ana"), ("app", "bo"))] == [1, 2]
    with pytest.raises(NotFound):
        asyncio.run(service.delete_memory(app_name="app", user_id="ana", memory_id="none"))


def test_entries_can_be_added_themselves(service):
    content = types.Content(parts=[types.Part(text="Ana prefers green tea.")])
    entry = MemoryEntry(content=content, author="Ana", custom_metadata={"kind": "taste"})
    asyncio.run(service.add_memory(app_name="app", user_id="ana", memories=[entry]))
    (found,) = ask(service, "What does Ana drink?")
    assert (found.author, found.custom_metadata["kind"]) == ("Ana", "taste")


def test_a_query_without_words_finds_nothing(service):
    asyncio.run(service.add_session_to_memory(session()))
    assert ask(service, " ") == []
