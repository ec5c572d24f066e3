"""A note's context holds the note: its own words in front, the beginning of the turn before behind them."""

import pytest

from memgraph_engine.errors import UndoRefused
from memgraph_engine.rendering import context as rendering
from tests.models import extracted, memory_with

ANSWER = "Peat holds water and lime does not, so mix both. " * 22
TALK = [
    {"id": "1", "role": "assistant", "content": ANSWER, "session": "s", "time": "2025-03-01T09:00"},
    {"id": "2", "role": "user", "content": "My roses stand in clay.", "session": "s", "time": "2025-03-01T09:01"},
    {"id": "3", "role": "user", "content": "Both of them", "session": "s", "time": "2025-03-01T09:02"},
]


def test_a_notes_own_words_stand_in_front_of_a_long_answer_that_is_clipped(memory):
    memory.add(TALK, user_id="ana")
    context = memory.get("2", user_id="ana").context
    own, _, before = context.partition(" [before: ")
    assert own == "ana: My roses stand in clay. (9:01 am on 1 March, 2025)"
    assert before.startswith("assistant: Peat holds water and lime does not,")
    assert before.endswith(" …]")
    assert ANSWER.startswith(before.removeprefix("assistant: ").removesuffix(" …]"))
    assert len(before) < 220


def test_a_long_note_has_no_turn_before_it(memory):
    memory.add([TALK[1], {**TALK[0], "id": "4"}], user_id="ana")
    assert "[before" not in memory.get("4", user_id="ana").context


def test_a_word_without_an_end_is_clipped_too(memory):
    memory.add([{**TALK[0], "content": "x" * 5000}, TALK[1]], user_id="ana")
    assert len(memory.get("2", user_id="ana").context) < 300


def test_a_context_tells_each_turn_once(memory):
    fence = {
        "id": "f",
        "role": "user",
        "content": "The fence behind my roses is green.",
        "session": "t",
        "time": "2025-03-01T18:00",
    }
    memory.add([*TALK[1:], fence], user_id="ana")
    entries = memory.context("What do my roses stand in?", user_id="ana").entries
    assert {entry.sources[0].id: entry.line.partition("): ")[2] for entry in entries} == {
        "2": "ana: My roses stand in clay.",
        "3": "ana: Both of them",
        "f": "ana: The fence behind my roses is green.",
    }
    assert entries[0].line == "[1] 2025-03-01 (Sat): ana: My roses stand in clay."


def test_a_short_answer_is_told_with_its_question_if_that_is_not_told_itself(memory):
    asked = {**TALK[0], "id": "q", "content": "The red roses or the white ones?", "time": "2025-03-01T09:01"}
    memory.add([asked, TALK[2]], user_id="ana")
    (entry,) = memory.context("Which of the roses? Both of them?", user_id="ana", since="2025-03-01T09:02").entries
    assert entry.line == "[1] 2025-03-01 (Sat): ana: Both of them [before: assistant: The red roses or the white ones?]"


def test_what_an_older_version_rendered_is_rendered_anew(memory, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(rendering, "_BEFORE", 60)
        memory.add(TALK, user_id="ana")
        before = memory.get("2", user_id="ana").context
    assert memory.render(user_id="ana") == 1
    after = memory.get("2", user_id="ana").context
    assert len(after) > len(before)
    assert memory.render(user_id="ana") == 0
    assert memory.verify(user_id="ana") == []
    assert [version.note.context for version in memory.history("2", user_id="ana")] == [before, after]
    decision = memory.decisions(user_id="ana", limit=1)[0]
    assert decision.kind == "render"
    with pytest.raises(UndoRefused, match="changed no words"):
        memory.undo(decision.id, user_id="ana")
    memory.undo(memory.explain("3", user_id="ana").decisions[0].id, user_id="ana")  # what came before can be undone


def test_what_a_model_wrote_is_not_rendered_anew(tenant, embedder):
    with memory_with(tenant, embedder, [extracted("Ana grows roses.")], only=["extraction"]) as (memory, _):
        memory.add({"id": "1", "text": "I grow roses."}, user_id="ana")
        assert memory.render(user_id="ana") == 0
        assert memory.get("1", user_id="ana").context == "Ana grows roses."


def test_nothing_is_rendered_of_a_memory_that_is_not_there(memory):
    assert memory.render(user_id="nobody") == 0
    assert memory.stats(user_id="nobody").language == ""


@pytest.mark.parametrize(("said", "asked"), [("2025-03-01", "2025-06-01"), ("2025-06-01", "2025-03-01")])
def test_what_one_says_in_contradiction_is_newer_and_no_dispute(memory, said, asked):
    for day, text in ((said, "I have two cats, Tom and Kit."), (asked, "I have three cats, Tom and Kit.")):
        memory.add({"role": "user", "content": text, "time": day}, user_id="ana")
    context = memory.context("How many cats do I have?", user_id="ana").text
    assert "disputed" not in context
