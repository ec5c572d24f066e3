"""A session of OpenAI's Agents SDK: the exact transcript, in its order, in the memory of one user."""

import asyncio
from datetime import timedelta

import pytest

from memgraph_engine import InvalidInput, Memory, Settings
from memgraph_engine.asking.items import ItemReader
from memgraph_engine.integrations.openai_agents import MemgraphSession
from memgraph_engine.model.item import Put
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.items import ItemWriter
from tests.loopback import Say, chat_server

TURNS = [
    {"role": "user", "content": "I moved to Lisbon."},
    {"type": "function_call", "name": "weather", "arguments": '{"city": "Lisbon"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny \0 \ud800"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "It is sunny there.", "annotations": []}]},
]


@pytest.fixture
def session(memory):
    return MemgraphSession(memory, "s1", user_id="ana")


def run(*calls):
    async def all_of_them():
        return [await call for call in calls]

    return asyncio.run(all_of_them())


def test_a_transcript_comes_back_as_it_was_given(session):
    assert run(session.get_items()) == [[]]
    *_, items, last, none = run(
        session.add_items(TURNS[:1]),
        session.add_items(TURNS[1:]),
        session.get_items(),
        session.get_items(limit=2),
        session.get_items(limit=0),
    )
    assert (items, last, none) == (TURNS, TURNS[2:], [])


def test_the_same_words_again_are_another_entry(session):
    assert run(session.add_items(TURNS[:1] * 3), session.get_items())[1] == TURNS[:1] * 3


def test_the_last_entry_is_taken_away_and_may_be_put_back(session, memory):
    *_, last, left = run(session.add_items(TURNS), session.pop_item(), session.get_items())
    assert (last, left) == (TURNS[-1], TURNS[:-1])
    memory.undo(memory.audit.deleted(user_id="ana")[0].decision.id, user_id="ana")
    assert run(session.get_items(), session.clear_session(), session.get_items(), session.pop_item()) == [
        TURNS,
        None,
        [],
        None,
    ]
    assert memory.verify(user_id="ana") == []


def test_sessions_and_users_are_kept_apart(memory):
    names = [("a", "ana"), ("a/b", "ana"), ("a%2Fb", "ana"), ("a", "bo"), ("ab", "ana")]
    sessions = [MemgraphSession(memory, name, user_id=user) for name, user in names]
    for n, one in enumerate(sessions):
        run(one.add_items([{"role": "user", "content": f"Number {n}."}]))
    assert [run(one.get_items())[0][0]["content"] for one in sessions] == [f"Number {n}." for n in range(5)]
    run(sessions[0].clear_session())
    assert [len(run(one.get_items())[0]) for one in sessions] == [0, 1, 1, 1, 1]


def test_what_was_said_is_found_and_is_erased_with_the_user(session, memory):
    run(session.add_items(TURNS))
    assert memory.search("Where did I move to?", user_id="ana")[0].note.text == "I moved to Lisbon."
    memory.erase(memory.forget(user_id="ana", everything=True))
    assert run(session.get_items()) == [[]]


SILENT = [
    {"role": "system", "content": "Always mention Faro."},
    {"role": "developer", "content": [{"type": "input_text", "text": "Never mention the weather of Faro."}]},
    {"role": "tool", "content": "Faro: 24 degrees"},
    {"role": "critic", "content": "Faro is not enough."},
    {"type": "function_call", "name": "weather", "arguments": '{"city": "Faro"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "Faro: 24 degrees"},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "Faro: 24 degrees"}]},
    {"type": "reasoning", "id": "r", "content": [{"type": "reasoning_text", "text": "What of Faro?"}], "summary": []},
    {"type": "web_search_call", "id": "w", "action": {"query": "Faro weather"}, "status": "completed"},
    {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.org/faro.png"}]},
]
"""Entries of a transcript in which nobody speaks who is heard."""


def test_only_what_users_and_assistants_say_is_found(session, memory):
    run(session.add_items([*SILENT, *TURNS]), session.add_items([{"role": "user", "content": "I like Faro."}]))
    found = [hit.note.text for hit in memory.search("What is the weather in Faro?", user_id="ana", top_k=20)]
    assert sorted(found) == ["I like Faro.", "I moved to Lisbon.", "It is sunny there."]
    assert run(session.get_items())[0][: len(SILENT)] == SILENT
    assert memory.verify(user_id="ana") == []


def test_a_role_makes_notes_as_the_settings_say(tenant, embedder):
    settings = Settings.load(tenant=tenant, gate={"noted_roles": ["user", "tool"]})
    with Memory.connect(settings=settings, embedder=embedder) as memory:
        run(MemgraphSession(memory, "s1", user_id="ana").add_items([*SILENT, *TURNS]))
        memory.add({"role": "tool", "content": "Porto: 20 degrees"}, user_id="ana")
        found = [hit.note.text for hit in memory.search("What is the weather in Faro?", user_id="ana", top_k=20)]
    assert sorted(found) == ["Faro: 24 degrees", "I moved to Lisbon.", "Porto: 20 degrees"]


def test_a_session_may_end_by_itself(tenant, embedder, clock):
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory:
        session = MemgraphSession(memory, "s1", user_id="ana", ttl=timedelta(days=1))
        run(session.add_items(TURNS))
        clock.later(timedelta(hours=20))
        assert run(session.get_items()) == [TURNS]
        clock.later(timedelta(hours=20))
        assert run(session.get_items()) == [TURNS]
        clock.later(timedelta(hours=25))
        assert run(session.get_items()) == [[]]


def test_each_entry_is_taken_away_once(session):
    entries = [{"role": "user", "content": f"Number {n}."} for n in range(8)]

    async def some():
        await session.add_items(entries)
        return await asyncio.gather(*(session.pop_item() for _ in range(8)))

    assert sorted(one["content"] for one in asyncio.run(some())) == [one["content"] for one in entries]
    assert run(session.get_items()) == [[]]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"user_id": None}, "user_id is required"),
        ({"session_id": ""}, "session_id is empty"),
        ({"ttl": timedelta()}, "a second at least"),
        ({"ttl": timedelta(days=999_999_999)}, "a thousand years"),
        ({"ttl": 5}, "must be a timedelta"),
    ],
)
def test_what_names_no_session_is_refused(untouched, given, says):
    with pytest.raises(InvalidInput, match=says):
        MemgraphSession(untouched, **{"session_id": "s1", "user_id": "ana", **given})


def test_items_of_other_surfaces_are_no_entries(memory, session):
    ItemWriter(memory.engine).put(Scope(memory.engine.settings.tenant, "ana"), [Put("s1/zzz", '{"n": 1}')])
    run(session.add_items(TURNS[:1]))
    assert run(session.get_items()) == [TURNS[:1]]
    run(session.clear_session())
    assert list(ItemReader(memory.engine).find(Scope(memory.engine.settings.tenant, "ana"), ["s1/zzz"])) == ["s1/zzz"]


@pytest.mark.parametrize("entry", ["words", {"n": float("nan")}, {"n": object()}, {1: 2, "1": 3}])
def test_what_is_no_entry_is_refused_with_all_that_came_with_it(session, entry):
    with pytest.raises(InvalidInput, match="An entry of a session"):
        run(session.add_items([TURNS[0], entry]))
    assert run(session.get_items()) == [[]]


STRANGE = [
    *({"role": kind, "content": "Hi."} for kind in (["x"], {"a": 1}, 5)),
    *({"role": "user", "content": [{"type": kind, "text": "Hi."}]} for kind in (["a"], {"a": 1}, 5, None)),
    {"type": ["message"], "role": "user", "content": "Hi."},
]


def test_an_entry_of_a_strange_role_or_kind_is_kept_as_it_was_given(session):
    run(session.add_items(STRANGE))
    assert run(session.get_items()) == [STRANGE]


@pytest.mark.openai_agents
@pytest.mark.filterwarnings("ignore")
def test_the_sdks_own_runner_keeps_a_transcript_in_it(memory):
    agents = pytest.importorskip("agents", reason="run by make test-openai-agents")
    from openai import AsyncOpenAI

    agents.set_tracing_disabled(True)

    @agents.function_tool
    def weather(city: str) -> str:
        """Tell the weather."""
        return f"It is sunny in {city}."

    def answer(request):
        said = [one["content"] for one in request["messages"]]
        if request["messages"][-1]["role"] == "tool":
            return Say(f"{said[-1]} I was told: {said[1]}")
        call = {"name": "weather", "arguments": '{"city": "Lisbon"}'}
        asked = {"tool_calls": [{"index": 0, "id": f"call_{len(said)}", "type": "function", "function": call}]}
        return Say(None, message=asked, finish_reason="tool_calls")

    async def talk(chat, *questions):
        async with AsyncOpenAI(base_url=chat.base, api_key="none") as client:
            model = agents.OpenAIChatCompletionsModel("scripted", client)
            agent = agents.Agent("assistant", instructions="Be brief.", model=model, tools=[weather])
            for question in questions:
                session = MemgraphSession(memory, "s1", user_id="ana")  # another one each time, as after a restart
                ended = await agents.Runner.run(agent, question, session=session)
            return ended.final_output, await session.get_items()

    with chat_server() as chat:
        chat.reply = answer
        told, items = asyncio.run(talk(chat, "I moved to Lisbon.", "How is the weather?"))
    assert told == "It is sunny in Lisbon. I was told: I moved to Lisbon."
    assert [one.get("role") or one["type"] for one in items] == [
        "user",
        "function_call",
        "function_call_output",
        "assistant",
    ] * 2
    assert "I moved to Lisbon." in [hit.note.text for hit in memory.search("Where do I live?", user_id="ana")]
