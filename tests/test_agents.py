"""Agent frameworks on a memory: each is run as its users run it, with a model that answers what it is told to."""

import asyncio

import pytest

pytestmark = [pytest.mark.agents, pytest.mark.filterwarnings("ignore")]


# ---- Google's Agent Development Kit -----------------------------------------------------------


@pytest.fixture
def service(memory):
    from memgraph_engine.integrations.adk import MemgraphMemoryService

    return MemgraphMemoryService(memory)


def conversation(*turns, app="trip", user="ana", session="s1"):
    """Return a session in which a user and an agent said this."""
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session
    from google.genai import types

    events = [
        Event(
            id=f"{session}-{at}",
            author=author,
            timestamp=1_700_000_000.0 + at,
            content=types.Content(role=author, parts=[types.Part(text=text)]),
        )
        for at, (author, text) in enumerate(turns)
    ]
    return Session(id=session, app_name=app, user_id=user, events=events)


def recalled(service, query, app="trip", user="ana"):
    """Return the texts that a search of the service finds."""
    found = asyncio.run(service.search_memory(app_name=app, user_id=user, query=query))
    return [part.text for entry in found.memories for part in entry.content.parts]


TALK = (("user", "I am allergic to peanuts."), ("guide", "I shall look for restaurants without them."))


def test_a_session_is_remembered_once_however_often_it_is_added(service, memory):
    session = conversation(*TALK)
    for _ in range(2):
        asyncio.run(service.add_session_to_memory(session))
    session.events += conversation(*TALK, ("user", "I travel by train.")).events[2:]
    asyncio.run(service.add_session_to_memory(session))
    assert [note.text for note in memory.get_all(user_id="trip/ana")][-1] == "I travel by train."
    assert memory.stats(user_id="trip/ana").sources == 3
    assert any("peanuts" in text for text in recalled(service, "What is Ana allergic to?"))


def test_apps_and_users_of_the_kit_are_apart(service):
    asyncio.run(service.add_session_to_memory(conversation(*TALK)))
    assert recalled(service, "What is the user allergic to?", user="ben") == []
    assert recalled(service, "What is the user allergic to?", app="food") == []
    assert recalled(service, "What is the user allergic to?", app="trip/ana", user="") == []


def test_pieces_of_a_stream_and_calls_of_tools_make_no_memory(service, memory):
    from google.adk.events.event import Event
    from google.genai import types

    call = types.Part(function_call=types.FunctionCall(name="look", args={"place": "Porto"}))
    events = [
        Event(author="guide", partial=True, content=types.Content(parts=[types.Part(text="I am aller")])),
        Event(author="guide", content=types.Content(parts=[call])),
        Event(author="guide", content=None),
    ]
    asyncio.run(service.add_events_to_memory(app_name="trip", user_id="ana", events=events, session_id="s1"))
    assert list(memory.get_all(user_id="trip/ana")) == []


def test_memories_of_ones_own_are_added_and_found(service):
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types

    entry = MemoryEntry(id="m1", content=types.Content(parts=[types.Part(text="Ana prefers window seats.")]))
    asyncio.run(service.add_memory(app_name="trip", user_id="ana", memories=[entry]))
    assert any("window seats" in text for text in recalled(service, "Which seat does Ana prefer?"))


def test_the_kits_own_agent_finds_it_by_its_tool(service):
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.adk.tools import load_memory
    from google.genai import types

    seen = []

    class Scripted(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            seen.append(llm_request)
            told = [p.function_response for c in llm_request.contents for p in c.parts if p.function_response]
            if told:
                part = types.Part(text="You are allergic to peanuts.")
            else:
                call = types.FunctionCall(name="load_memory", args={"query": "What is the user allergic to?"})
                part = types.Part(function_call=call)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    async def main():
        await service.add_session_to_memory(conversation(*TALK))
        agent = LlmAgent(name="guide", model=Scripted(model="scripted"), tools=[load_memory])
        sessions = InMemorySessionService()
        await sessions.create_session(app_name="trip", user_id="ana", session_id="s2")
        runner = Runner(agent=agent, app_name="trip", session_service=sessions, memory_service=service)
        asked = types.Content(role="user", parts=[types.Part(text="What can't I eat?")])
        return [event async for event in runner.run_async(user_id="ana", session_id="s2", new_message=asked)]

    events = asyncio.run(main())
    assert events[-1].content.parts[0].text == "You are allergic to peanuts."
    assert "peanuts" in "".join(content.model_dump_json() for content in seen[-1].contents)


# ---- Microsoft's Agent Framework --------------------------------------------------------------


def chat(answers, asked):
    """Return a chat client that answers so, and keeps what it was asked."""
    from agent_framework import BaseChatClient, ChatResponse, Message

    class Scripted(BaseChatClient):
        async def _inner_get_response(self, *, messages, options, **_):
            asked.append((str(options.get("instructions") or ""), [(one.role, one.text) for one in messages]))
            return ChatResponse(messages=[Message(role="assistant", contents=[answers.pop(0)])])

    return Scripted()


def run(memory, user, says, answers):
    """Let an agent with the memory of a user hear and say this; return what the model was asked."""
    from agent_framework import Agent

    from memgraph_engine.integrations.agent_framework import MemgraphContextProvider

    asked = []

    async def main():
        provider = MemgraphContextProvider(memory, user)
        agent = Agent(client=chat(answers, asked), instructions="Be brief.", context_providers=[provider])
        session = agent.create_session()
        for one in says:
            await agent.run(one, session=session)

    asyncio.run(main())
    return asked


def test_an_agent_knows_in_the_next_session_what_was_said_in_the_last(memory):
    run(memory, "ana", ["I am allergic to peanuts."], ["I shall keep that in mind."])
    asked = run(memory, "ana", ["What am I allergic to?"], ["To peanuts."])
    assert "peanuts" in str(asked[0])
    assert "Be brief." in str(asked[0])
    foreign = run(memory, "ben", ["What am I allergic to?"], ["I don't know."])
    assert "peanuts" not in str(foreign[0])


def test_what_the_agent_repeats_of_its_memory_is_no_note_of_its_own(memory):
    run(memory, "ana", ["I am allergic to peanuts and to cashew nuts."], ["Noted."])
    before = len(list(memory.get_all(user_id="ana")))
    run(memory, "ana", ["What am I allergic to?"], ["You are allergic to peanuts and to cashew nuts."])
    texts = [note.text for note in memory.get_all(user_id="ana")]
    assert "You are allergic to peanuts and to cashew nuts." not in texts
    assert len(texts) <= before + 1
