"""A prompt holds what is known, remembered and was just said, and never more than its window."""

import pytest

from memgraph_engine import InvalidInput, Memory, Settings
from memgraph_engine.llm.tokens import chat_tokens
from memgraph_engine.testing import ScriptedChat

ANA = {"user_id": "ana"}
PLANTS = ("tomatoes", "basil", "figs", "lemons", "leeks", "beans", "roses", "ferns", "mint", "thyme", "sage", "kale")


@pytest.fixture
def connected(tenant, embedder):
    some = []

    def connect(llm=None, **prompt):
        roles = {
            role: {"model": ""} for role in ("extraction", "gating", "merging", "planning", "sufficiency", "profiling")
        }
        given = {"lifecycle": {"profile": True}, "answer": {"relevance": 0}, "llm": {"roles": roles}, "prompt": prompt}
        some.append(Memory.connect(tenant=tenant, embedder=embedder, settings=Settings.load(**given), llm=llm))
        return some[-1]

    yield connect
    for one in some:
        one.close()


def talk(memory, plants=PLANTS, session="now"):
    turns = []
    for at, plant in enumerate(plants):
        asked = f"How often shall I water the {plant} on the {at + 2}nd terrace, which gets sun until the late evening?"
        turns += [
            {"id": f"{session}-q{at}", "role": "user", "text": asked},
            {"id": f"{session}-a{at}", "role": "assistant", "text": f"Water the {plant} every {at + 1} days."},
        ]
    memory.add_many([{**turn, "session": session} for turn in turns], **ANA)


def test_a_prompt_has_the_profile_what_is_remembered_and_the_last_turns(connected):
    memory = connected()
    memory.add(
        {"id": "old", "role": "user", "text": "I live in Faro. My ferns came from my aunt.", "session": "s0"}, **ANA
    )
    talk(memory, ("ferns", "mint"))
    memory.add({"role": "user", "text": "Thanks!", "session": "now"}, **ANA)
    made = memory.prompt("Where did my ferns come from?", session="now", system="Be brief.", **ANA)
    system, *turns, question = made.messages
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    assert question == {"role": "user", "content": "Where did my ferns come from?"}
    assert system["content"].startswith("Be brief.")
    assert "<recalled-memory>\nresidence: Faro\n</recalled-memory>" in system["content"]
    assert [entry.sources[0].id for entry in made.context.entries] == ["old"]  # the others are among the last turns
    assert made.section("summary").text == ""
    assert turns[-1]["content"] == "Thanks!"
    memory.delete("now-q1", **ANA)
    again = memory.prompt("Where did my ferns come from?", session="now", **ANA)
    assert not any("terrace" in turn["content"] and "mint" in turn["content"] for turn in again.messages)


def test_turns_without_room_are_summed_up_and_the_window_is_kept(connected):
    memory = connected(short=300, long=0, profile=0)
    talk(memory)
    made = memory.prompt("How often do I water the kale?", session="now", **ANA)
    short, summary = made.section("short"), made.section("summary")
    assert "kale every 12 days" in short.text
    assert "basil" not in short.text
    assert "ferns every 8 days" in summary.text
    assert summary.tokens <= summary.budget
    assert "tomatoes" not in summary.text
    for window in (4096, 1200, 700, 560):
        made = memory.prompt("How often do I water the kale?", session="now", window=window, **ANA)
        assert chat_tokens(made.messages) <= made.tokens <= window - 500
    with pytest.raises(InvalidInput, match="no room"):
        memory.prompt("How often do I water the kale?", session="now", window=510, **ANA)


def test_what_a_part_leaves_goes_to_the_next(connected):
    memory = connected(long=200, short=100)
    talk(memory, PLANTS[:4])
    alone = memory.prompt("Who are you?", session="now", **ANA)
    assert alone.section("short").budget > 400  # there is no profile, and nothing else is remembered
    assert len(alone.messages) == 9


def test_a_question_that_was_stored_before_is_not_asked_twice(connected):
    memory = connected()
    memory.add({"role": "user", "text": "Where is the heron?", "session": "now"}, **ANA)
    made = memory.prompt("Where is the heron?", session="now", **ANA)
    assert [message["content"] for message in made.messages] == ["Where is the heron?"]


@pytest.mark.parametrize("written", ["It was told at length how to water each plant.", "Ines told how to water them."])
def test_a_model_sums_up_unless_it_adds_a_name(connected, written):
    chat = ScriptedChat([{"groups": [{"group": 1, "summary": written}]}])
    memory = connected(llm=chat, short=300, long=0, profile=0)
    asked = "how shall I water the {} on the terrace, which gets sun until the late evening, and has no roof at all?"
    turns = [{"role": "user", "text": asked.format(plant), "session": "now"} for plant in PLANTS]
    memory.add_many(turns, **ANA)
    made = memory.prompt("Where are the plants?", session="now", **ANA)
    assert (written in made.section("summary").text) == written.startswith("It")
    assert made.section("summary").text.startswith("What was said earlier")
    assert (chat.left, made.cost.calls) == (0, 1)


def test_no_turn_of_another_memory_is_said(connected):
    memory = connected()
    memory.add({"role": "user", "text": "The vault is open.", "session": "now"}, user_id="bo")
    memory.add({"role": "user", "text": "The gate is shut.", "session": "now"}, **ANA)
    made = memory.prompt("What is open?", session="now", **ANA)
    assert "vault" not in str(made.messages)
