"""Chat messages as APIs give them: who speaks, what makes a note, and what an assistant's words may do."""

import pytest

from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest import chat
from memgraph_engine.providers import load_litellm
from tests.models import memory_with


def talk(*turns, session="s"):
    """Return messages, a user's and an assistant's in turns."""
    roles = ("user", "assistant")
    return [
        {"id": f"t{at}", "role": roles[at % 2], "content": text, "session": session} for at, text in enumerate(turns)
    ]


def kinds(receipt):
    return [entry.kind for entry in receipt.entries]


def evidence(memory, entry):
    return next(one.evidence for one in memory.decisions(user_id="ana", limit=100) if one.id == entry.decision)


def ties(memory, note):
    return [tie.kind for tie in memory.explain(note, user_id="ana").ties]


def test_a_users_words_are_the_users_and_an_assistants_the_agents(memory):
    said = {"id": "u", "role": "user", "content": "I row on Sundays.", "agent": "coach"}
    answer = {"id": "a", "role": "assistant", "content": "Rowing trains the back above all.", "agent": "coach"}
    memory.add([said, answer, {**said, "id": "b", "content": "My boat is red.", "speaker": "Bo"}], user_id="ana")
    assert [memory.get(one, user_id="ana").speaker for one in ("u", "a", "b")] == ["ana", "coach", "Bo"]
    assert memory.get("u", user_id="ana").raw == ("ana: I row on Sundays.",)
    assert {hit.sources[0].id for hit in memory.search("rowing", user_id="ana", speaker="ana")} == {"u"}


def test_an_id_is_no_name_to_read(memory):
    user = "9f1c2e7a-41d0"
    memory.add({"id": "u", "role": "user", "content": "I row on Sundays."}, user_id=user)
    note = memory.get("u", user_id=user)
    assert (note.speaker, note.raw) == (user, ("user: I row on Sundays.",))


def test_what_the_tenant_shares_is_no_users_words(memory):
    memory.add({"id": "u", "role": "user", "content": "The office opens at eight."}, shared=True)
    assert memory.get("u", shared=True).speaker == ""


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("My dog is called Rex.", "Your dog is called Rex, what a nice name."),
        ("I sold my piano to the school in Bath.", "So you sold the piano to a school in Bath!"),
        ("My train to Turin leaves at 7:40.", "Noted: the train to Turin leaves at 7:40. Shall I remind you?"),
    ],
)
@pytest.mark.parametrize("wait", [True, False])
def test_an_assistant_that_repeats_the_user_confirms_it(memory, said, answer, wait):
    receipt = memory.add(talk(said, answer), user_id="ana", wait=wait)
    if not wait:
        receipt = memory.process(user_id="ana")
    assert kinds(receipt) == ["append", "discard"]
    assert evidence(memory, receipt.entries[1]).startswith("The assistant confirms what the user said: ")
    assert ties(memory, "t0") == []
    assert memory.stats(user_id="ana").sources == 2
    assert memory.verify(user_id="ana") == []


def test_what_an_assistant_repeats_in_a_later_session_is_confirmed_as_well(memory):
    memory.add({"id": "u", "role": "user", "content": "I keep four hives behind the old mill."}, user_id="ana")
    memory.add([f"Fact number {at} is about harbours." for at in range(20)], user_id="ana")
    told = {"role": "assistant", "content": "As you told me, you keep four hives behind the old mill.", "session": "z"}
    assert kinds(memory.add(told, user_id="ana")) == ["discard"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("My dog is called Rex.", "Your dog Rex is a beagle."),  # it says more
        ("I paid the painter 300 euros.", "You paid the painter 300 euros, and 40 for the paint."),
        ("My sister eats fish.", "Your sister eats no fish."),
        ("Is oat milk or almond milk better in coffee?", "Oat milk is better in coffee."),
        ("is oat milk or almond milk better in coffee", "Oat milk is better in coffee."),
    ],
)
def test_an_assistant_that_says_more_confirms_nothing(memory, said, answer):
    assert "discard" not in kinds(memory.add(talk(said, answer), user_id="ana"))


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("I live in Lisbon with my aunt.", "Actually, you live in Porto with your aunt."),
        ("My meeting is on Monday.", "Suppose that your meeting is on Tuesday."),
        ("I eat meat.", "You could eat no meat."),
        ("I am 41 years old.", "At 42 years old one sleeps less."),
    ],
)
@pytest.mark.parametrize("role", [{"role": "user"}, {}])
def test_an_assistants_words_neither_correct_nor_dispute_the_users(memory, said, answer, role):
    memory.add({"id": "u", "content": said, **role}, user_id="ana")
    receipt = memory.add({"id": "a", "role": "assistant", "content": answer}, user_id="ana")
    assert kinds(receipt)[0] in ("append", "link")
    assert memory.get("u", user_id="ana").status == "active"
    assert "conflict" not in ties(memory, "u")
    assert "disputed" not in memory.context(said, user_id="ana").text


MACHINES = [
    ({"role": "system", "content": "You are a polite assistant of a travel agency."}, "It is an instruction"),
    ({"role": "developer", "content": "Answer in two sentences at most."}, "It is an instruction"),
    ({"role": "tool", "content": '{"temperature": 21}', "tool_call_id": "c1", "name": "weather"}, "It is what a tool"),
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"at": 1}'}}],
        },
        "It is what a tool",
    ),
]


@pytest.mark.parametrize("wait", [True, False])
def test_what_is_said_to_or_by_machines_is_kept_without_a_note(memory, wait):
    said = [{"id": f"m{at}", **message} for at, (message, _) in enumerate(MACHINES)]
    entries = memory.add(said, user_id="ana", wait=wait).entries
    assert [(entry.kind, entry.note) for entry in entries] == [("discard", "")] * len(MACHINES)
    told = [evidence(memory, entry) for entry in entries]
    assert [told[at].startswith(why) for at, (_, why) in enumerate(MACHINES)] == [True] * len(MACHINES), told
    assert memory.stats(user_id="ana").sources == len(MACHINES)
    assert memory.verify(user_id="ana") == []


def test_no_context_quotes_what_machines_say(memory):
    turns = [{"id": "m", **MACHINES[0][0], "session": "s"}, {"id": "u", "content": "I row on Sundays.", "session": "s"}]
    memory.add(turns, user_id="ana")
    assert memory.get("u", user_id="ana").context == "I row on Sundays."


def test_what_machines_say_makes_notes_when_it_is_asked_for(tenant, embedder):
    gate = {"noted_roles": ["user", "assistant", "system", "tool"]}
    with memory_with(tenant, embedder, only=[], gate=gate) as (memory, _):
        assert kinds(memory.add([message for message, _ in MACHINES[:3]], user_id="ana")) == ["append"] * 3


def test_a_whole_loop_of_a_chat_api_is_remembered(memory):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Faro"}'}}
    loop = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "Ana", "content": [{"type": "text", "text": "I fly to Faro."}, "Is it warm?"]},
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call], "annotations": []},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "24 degrees"}]},
        {"role": "assistant", "content": "It has 24 degrees in Faro.", "tool_calls": None, "audio": None},
    ]
    memory.add(loop, user_id="ana", session="s")
    notes = list(memory.get_all(user_id="ana"))
    assert [(note.speaker, note.sources[0].text) for note in notes] == [
        ("Ana", "I fly to Faro.\nIs it warm?"),
        ("", "It has 24 degrees in Faro."),
    ]
    assert memory.stats(user_id="ana").sources == 5


SILENT = [
    ({"role": "assistant", "content": None}, "a turn without words"),
    (
        {"role": "assistant", "content": "", "reasoning_content": "He wants …", "thinking_blocks": []},
        "a turn without words",
    ),
    ({"role": "assistant", "content": [{"type": "thinking", "thinking": "…"}]}, "a turn without words"),
    (
        {"role": "user", "content": [{"type": "image_url"}, {"type": "input_audio"}]},
        "a turn without words (image_url, input_audio)",
    ),
    ({"role": "system", "content": "Be brief. " * 10_240}, "an instruction"),
]


@pytest.mark.parametrize("wait", [True, False])
def test_a_turn_that_says_nothing_to_be_noted_keeps_out_no_other(memory, wait):
    said = ["My flight leaves on Monday.", "To Faro.", "My aunt keeps nine goats.", "It rains.", "Ines rows.", "I ski."]
    talk = [{"role": "user", "content": said[0]}]
    for (message, _), text in zip(SILENT, said[1:], strict=True):
        talk += [{"id": text, **message}, {"role": "user", "content": text}]
    entries = memory.add(talk, user_id="ana", session="s", wait=wait).entries
    memory.process(user_id="ana")
    told = [evidence(memory, entry) for entry in entries[1 : 2 * len(SILENT) : 2]]
    assert [one.startswith(f"It is {why}") for one, (_, why) in zip(told, SILENT, strict=True)] == [True] * len(
        SILENT
    ), told
    assert [note.text for note in memory.get_all(user_id="ana")] == said
    assert memory.stats(user_id="ana").sources == len(talk)
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0


def test_a_picture_beside_words_is_named_in_the_metadata(memory):
    parts = [{"type": "text", "text": "This is my boat."}, {"type": "image_url", "image_url": {"url": "https://…"}}]
    memory.add({"role": "user", "content": parts, "metadata": {"chat": 7}}, user_id="ana")
    (hit,) = memory.search("boat", user_id="ana")
    assert (hit.note.text, hit.note.metadata) == ("This is my boat.", {"chat": 7, "left_out": ["image_url"]})


def test_the_objects_of_chat_libraries_are_messages(memory):
    said = load_litellm("a test").Message(role="assistant", content="The museum opens at ten.")
    memory.add(said, user_id="ana", session="s")
    memory.add([{"role": "user", "content": "I like it."}, said], user_id="ana", session="t")
    assert {note.session for note in memory.get_all(user_id="ana", role="assistant")} >= {"s"}
    assert memory.stats(user_id="ana").sources == 3


@pytest.mark.parametrize(
    ("given", "what"),
    [(b"My boat is blue.", "an object of the type bytes"), (7, "the number 7"), ({1, 2}, "a list")],
)
def test_what_is_no_message_is_refused_as_what_it_is(untouched, given, what):
    with pytest.raises(InvalidInput, match=f"not {what}"):
        untouched.add(given, user_id="ana")


@pytest.mark.parametrize(
    ("message", "role", "text"),
    [
        ({"role": "model", "content": "Hi."}, "assistant", "Hi."),
        ({"role": "Human", "content": "Hi."}, "user", "Hi."),
        ({"role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}, "assistant", "Hi."),
        ({"role": "assistant", "content": None, "refusal": "I won't."}, "assistant", "I won't."),
        ({"role": "assistant", "audio": {"id": "1", "transcript": "Hi."}}, "assistant", "Hi."),
        (
            {"role": "assistant", "content": [{"type": "thinking"}, {"type": "text", "text": "Hi."}]},
            "assistant",
            "Hi.",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "find", "input": {"a": 1}}]},
            "tool",
            'find({"a": 1})',
        ),
        ({"role": "user", "content": [{"type": "tool_result", "content": "found"}]}, "tool", "found"),
        ({"role": "assistant", "function_call": {"name": "find", "arguments": "{}"}}, "tool", "find({})"),
        ({"role": "assistant", "content": "Let me look.", "tool_calls": [{"name": "find", "args": {}}]}, "assistant",
         "Let me look."),
    ],
)  # fmt: skip
def test_a_message_is_read_as_each_api_gives_it(message, role, text):
    read = chat.fields(message, "message 0")
    assert (read["role"], read["text"]) == (role, text)
    assert chat.fields(read, "message 0") == read  # so a file's message is the same when it is added


@pytest.mark.parametrize("result", ["tool_result", "top"])
def test_a_picture_that_a_tool_gave_back_is_named(memory, result):
    given = [{"type": "text", "text": "The map of Faro."}, {"type": "image", "source": {}}, {"type": "document"}]
    if result == "tool_result":
        message = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": given}]}
    else:
        message = {"role": "tool", "tool_call_id": "1", "content": given}
    memory.add({"id": "map", **message}, user_id="ana")
    source = memory.source("map", user_id="ana")
    assert (source.role, source.text) == ("tool", "The map of Faro.")
    assert source.metadata == {"left_out": ["image", "document"]}


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"role": "user", "content": [{"type": "hologram"}]}, "part 0 .*'hologram'.*no text.*caption"),
        ({"role": "user", "content": ["Look!", {"type": "smell"}]}, "part 1 .*'smell'.*no text"),
        ({"role": "user", "content": [{"type": ["text"], "text": "Hi."}]}, "part 0 .*mapping.*no text"),
        ({"role": "user", "content": [{"type": "text", "text": 7}]}, "part 0 .*no text"),
        ({"role": "user", "content": [None]}, r"part 0 .*nothing \(None\)"),
        ({"role": "uesr", "content": "Hi."}, "no chat API has the role 'uesr'.*Did you mean 'user'"),
        ({"role": "narrator", "content": "Hi."}, "role 'narrator'.*`speaker`"),
        ({"role": ["user"], "content": "Hi."}, "role is a list"),
        ({"role": "user", "name": "Ana", "speaker": "Bo", "content": "Hi."}, "both speaker and name"),
        ({"role": "assistant", "tool_calls": "find"}, "tool_calls is a string"),
        ({"role": "assistant", "tool_calls": [3]}, r"tool_calls\[0\] is the number 3"),
        ({"role": "assistant", "tool_calls": [{"function": {}}]}, r"tool_calls\[0\] calls a tool without a name"),
        ({"role": "user", "content": "Be brief. " * 50_001}, "500,010 characters"),
    ],
)  # fmt: skip
def test_what_no_api_has_is_refused_by_its_place_and_nothing_is_written(memory, message, says):
    with pytest.raises(InvalidInput, match=says) as error:
        memory.add([{"role": "user", "content": "A good one."}, message], user_id="ana")
    assert "message 2 of 2" in str(error.value)
    assert memory.stats(user_id="ana").sources == 0
