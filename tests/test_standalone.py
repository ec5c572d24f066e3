"""A question that follows on others is asked with what it refers back to."""

import json

import pytest
from typer.testing import CliRunner

from memgraph_engine.cli import app
from memgraph_engine.errors import InvalidInput
from memgraph_engine.language.references import standalone
from memgraph_engine.model.memory import Source
from tests.models import memory_with


def turn(role, text):
    return Source("1", text, "", role=role)


SISTER = [
    turn("user", "My sister Elena moved to Porto with her dog Biscuit."),
    turn("assistant", "How exciting! Does Elena like the new flat?"),
]
BIKE = [turn("user", "I want to sell my old cargo bike."), turn("assistant", "Sure, where do you want to sell it?")]
HERMANA = [turn("user", "Mi hermana Elena se mudó a Oporto.")]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What did she buy?", "What did Elena buy?"),
        ("What emotions did she feel during the party?", "What emotions did Elena feel during the party?"),
        ("Does he like it?", "Does Elena like it?"),
    ],
)
def test_a_person_is_named_in_the_place_of_the_pronoun(question, asked):
    assert standalone(question, SISTER, "english") == asked


@pytest.mark.parametrize(
    ("user", "assistant", "question", "asked"),
    [
        ("Where does Priya live?", "Priya lives in Leeds.", "What did she adopt?", "What did Priya adopt?"),
        ("How is Priya doing?", "She moved to Leeds.", "What's her cat called?", "What's Priya's cat called?"),
        ("Where does Priya live?", "In Leeds.", "And her brother?", "And Priya's brother?"),
        ("Where is the meeting with Laura?", "At Hotel Adlon.", "Is she coming?", "Is Laura coming?"),
        ("Maria works for Siemens in Munich.", "Nice!", "How old is she?", "How old is Maria?"),
        ("Who is the manager at Keizer?", "Olivier.", "What does he want?", "What does Olivier want?"),
        ("My mother loves Madeira.", "Lovely!", "How old is she?", "How old is my mother?"),
        ("The dog is sick.", "Oh no.", "What does he eat?", "What does the dog eat?"),
        ("Coffee makes me jumpy, says Ana.", "Noted.", "What did she say?", "What did Ana say?"),
        ("I met Priya and Karl.", "Nice!", "What did he decide?", "What did he decide? (Priya, Karl)"),
        ("Thanks! Great.", "You're welcome.", "What did she buy?", "What did she buy?"),
        ("Lisbon is hot.", "It is.", "How’s she?", "How's Lisbon?"),
    ],
)
def test_a_person_is_whoever_was_told_of_and_no_place_where_he_is(user, assistant, question, asked):
    assert standalone(question, [turn("user", user), turn("assistant", assistant)], "english") == asked


@pytest.mark.parametrize(
    ("turns", "question", "named"),
    [
        (BIKE, "How much did I pay for it?", "cargo bike"),
        (BIKE, "What's that?", "cargo bike"),
        (BIKE, "And the other one?", "cargo bike"),
        (SISTER, "And on Sunday?", "Elena"),
        (SISTER, "What about Tom?", "Elena"),
        (SISTER, "When did I go there?", "Elena"),
    ],
)
def test_phrases_for_a_thing_follow_the_question(turns, question, named):
    asked = standalone(question, turns, "english")
    assert asked.startswith(f"{question} (")
    assert named in asked


@pytest.mark.parametrize(
    "question",
    [
        "Where do I work?",
        "What did the doctor say when she called?",
        "What did Tom say about his mother?",
        "What did I say about the boat when I bought it?",
        "What was that recipe with lentils?",
        "Is there a dentist I liked?",
        "Where did we go that weekend?",
        "Why?",
        "",
        "?!",
    ],
)
def test_a_question_that_stands_alone_stays_as_it_is(question):
    assert standalone(question, SISTER, "english") == question


def test_without_turns_or_lists_a_question_stays_as_it_is():
    assert standalone("What did she buy?", [], "english") == "What did she buy?"
    assert standalone("彼女は何を買った？", SISTER, "cjk") == "彼女は何を買った？"
    assert standalone("What did she buy?", SISTER, "standard") == "What did she buy?"


def test_the_name_told_of_last_is_meant():
    turns = [turn("user", "My friend Tom came by."), turn("user", "Later I met Elena.")]
    assert standalone("What did she bring?", turns, "english") == "What did Elena bring?"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("¿Qué compró ella?", "¿Qué compró mi hermana?"),
        ("¿Y el domingo?", "¿Y el domingo? (hermana Elena"),
        ("¿Qué hago?", "¿Qué hago?"),
    ],
)
def test_spanish(question, asked):
    assert standalone(question, HERMANA, "spanish").startswith(asked)


# ---- through the memory -----------------------------------------------------------------------


@pytest.fixture
def told(memory):
    memory.add_many(
        [
            {"text": "Elena bought a red kayak.", "id": "kayak"},
            {"text": "Tom bought a green tent.", "id": "tent"},
            {"text": "The market sells bread.", "id": "market"},
        ],
        user_id="ana",
    )
    for role, text in (("user", "I talked with my friend Elena."), ("assistant", "How is Elena?")):
        memory.add({"role": role, "text": text, "session": "today"}, user_id="ana")
    return memory


def test_the_turns_before_tell_whom_a_search_is_about(memory):
    memory.add_many([{"text": f"{name} bought a kayak.", "id": name} for name in ("Elena", "Tom")], user_id="ana")
    history = [{"role": "user", "content": "How is my friend Elena?"}]
    found = memory.search("What did she buy?", user_id="ana", top_k=1, history=history)
    assert (found.asked, memory.search("What did Tom buy?", user_id="ana", history=history).asked) == (
        "What did Elena buy?",
        "",
    )
    (hit,) = found
    assert hit.sources[0].id == "Elena"
    history = [{"role": "user", "content": "How is my friend Tom?"}]
    (hit,) = memory.search("What did he buy?", user_id="ana", top_k=1, history=history, explain=True)
    assert hit.sources[0].id == "Tom"
    assert hit.explanation.rounds[0].query == "What did Tom buy?"


def test_a_session_of_the_memory_tells_it_as_well_and_is_not_told_again(told):
    found = told.context("What did she buy?", user_id="ana", history="today")
    assert (found.query, found.asked) == ("What did she buy?", "What did Elena buy?")
    assert found.entries[0].sources[0].id == "kayak"
    assert {source.session for entry in found.entries for source in entry.sources} == {""}
    assert told.context("What did she buy?", user_id="ana", history="no such session").asked == ""
    assert told.context("What did Tom buy?", user_id="ana", history="today").asked == ""


def test_the_question_itself_is_no_turn_before_it(told):
    told.add({"role": "user", "text": "What did she buy?", "session": "today"}, user_id="ana")
    assert told.context("What did she buy?", user_id="ana", history="today").asked == "What did Elena buy?"


def test_another_users_session_tells_nothing(told):
    assert told.context("What did she buy?", user_id="ben", history="today").asked == ""


def test_a_prompt_of_a_session_remembers_whom_it_is_about(told):
    made = told.prompt("What did she buy?", user_id="ana", session="today")
    assert made.context.asked == "What did Elena buy?"
    assert "red kayak" in made.messages[0]["content"]
    assert made.messages[-1]["content"] == "What did she buy?"


def test_a_model_answers_the_question_with_what_it_refers_to(tenant, embedder):
    with memory_with(tenant, embedder, ["A red kayak [1]."], only=["answering"]) as (memory, chat):
        memory.add("Elena bought a red kayak.", user_id="ana")
        history = [{"role": "user", "content": "How is my friend Elena?"}]
        answer = memory.answer("What did she buy?", user_id="ana", history=history)
        assert answer.text == "A red kayak [1]."
        assert "What did Elena buy?" in chat.calls[0].text


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (3, "history must be a session, or a list of messages"),
        ([{"role": "user", "content": 7}], r"history\[0\]"),
        ([{"txt": "Hi"}], r"history\[0\]"),
        ("a\0b", "history"),
    ],
)
def test_what_is_no_history_is_refused(untouched, history, message):
    with pytest.raises(InvalidInput, match=message):
        untouched.search("What did she buy?", user_id="ana", history=history)


def test_only_the_last_turns_are_read(memory):
    history = [{"role": "user", "content": "I met Elena."}, *[{"role": "user", "content": "Fine."}] * 8]
    assert memory.context("What did she buy?", user_id="ana", history=history).asked == ""


def test_the_commands_take_a_session(told, tenant):
    found = CliRunner().invoke(
        app, ["context", "What did she buy?", "-u", "ana", "--tenant", tenant, "--history", "today", "--json"]
    )
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["asked"] == "What did Elena buy?"
    for command in ("search", "context"):
        given = ["-u", "ana", "--tenant", tenant, "--history", "today"]
        assert "Asked as: What did Elena buy?" in CliRunner().invoke(app, [command, "What did she buy?", *given]).stderr
