"""Microsoft's Agent Framework on a memory: its own agent runs, with a model that answers what it is told to."""

import asyncio

import pytest

pytestmark = [pytest.mark.agent_framework, pytest.mark.filterwarnings("ignore")]


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
