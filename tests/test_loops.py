"""What the memory said itself is never remembered as new."""

import pytest

from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.marker import enclose
from tests.models import extracted, memory_with

FERRY = "The ferry to Madeira leaves at noon from the old harbour."
ANSWER = "As you told me, the ferry to Madeira leaves at noon from the old harbour."


def answer(text=ANSWER, **given):
    return {"id": "answer", "role": "assistant", "content": text, **given}


def evidence(memory, entry):
    return next(one.evidence for one in memory.decisions(user_id="ana") if one.id == entry.decision)


@pytest.mark.parametrize("wait", [True, False])
def test_recalled_text_alone_is_kept_as_a_source_without_a_note(memory, wait):
    text = enclose(FERRY)
    (entry,) = memory.add({"id": "x", "text": text}, user_id="ana", wait=wait).entries
    assert (entry.kind, entry.note, evidence(memory, entry)) == ("discard", "", "It is recalled text.")
    assert list(memory.get_all(user_id="ana")) == []
    assert memory.search("ferry", user_id="ana") == []
    assert memory.stats(user_id="ana").sources == 1
    assert memory.verify(user_id="ana") == []


def test_recalled_text_is_no_news_with_discard_off_either(tenant, embedder):
    with memory_with(tenant, embedder, only=[], gate={"discard": False}) as (memory, _):
        assert memory.add(enclose(FERRY), user_id="ana").count("discard") == 1
        assert memory.add("Haha, thanks!", user_id="ana").count("append") == 1


def test_only_the_rest_of_a_message_is_remembered_and_its_source_is_verbatim(memory):
    text = f"You said {enclose(FERRY)} but I missed it because of the beekeeper."
    memory.add({"id": "x", "text": text, "session": "s"}, user_id="ana")
    memory.add({"id": "y", "text": "He sold me two hives.", "session": "s"}, user_id="ana")
    note = memory.get("x", user_id="ana")
    assert note.sources[0].text == text
    for where in (*note.raw, note.context, *note.keywords, memory.get("y", user_id="ana").context):
        assert "Madeira" not in where
        assert "recalled-memory" not in where
    assert "beekeeper" in note.context
    assert memory.search("Madeira", user_id="ana")[0].explanation is None
    assert "lexical" not in memory.search("Madeira", user_id="ana", explain=True)[0].explanation.proposed_by


def test_no_model_sees_recalled_text(tenant, embedder):
    with memory_with(tenant, embedder, [extracted("Ana missed it.")], only=["extraction"]) as (memory, chat):
        memory.add_many([enclose(FERRY), f"{enclose(FERRY)} I missed it."], user_id="ana")
        assert "Madeira" not in chat.calls[0].text


def test_an_answer_made_of_what_was_shown_is_no_new_memory(memory):
    memory.add({"id": "f", "text": FERRY, "role": "user"}, user_id="ana")
    shown = [hit.note.context for hit in memory.search("When does the ferry leave?", user_id="ana")]
    (entry,) = memory.add(answer(), user_id="ana", shown=shown).entries
    assert (entry.kind, entry.note) == ("discard", "")
    assert evidence(memory, entry).startswith("It is the assistant's words, ")
    assert evidence(memory, entry).endswith("% of which were shown to it.")
    assert memory.stats(user_id="ana").sources == 2
    assert [note.sources[0].id for note in memory.get_all(user_id="ana")] == ["f"]


def test_an_answer_is_no_new_memory_when_it_is_deferred_either(memory):
    (entry,) = memory.add(answer(), user_id="ana", shown=[FERRY], wait=False).entries
    assert entry.kind == "discard"
    assert memory.process(user_id="ana").entries == ()


def test_an_answer_that_says_more_is_remembered(memory):
    more = f"{ANSWER} A cheaper boat sails on Sundays, run by a beekeeper called Tiago who also sells honey."
    assert memory.add(answer(more), user_id="ana", shown=[FERRY]).count("append") == 1


def test_an_answer_is_remembered_when_nothing_was_shown(memory):
    assert memory.add(answer(), user_id="ana").count("append") == 1


def test_only_an_assistants_words_are_held_against_what_was_shown(memory):
    assert memory.add({"role": "user", "content": FERRY}, user_id="ana", shown=[FERRY]).count("append") == 1


def test_a_users_own_restatement_joins_what_is_known(memory):
    memory.add({"id": "f", "role": "user", "content": FERRY}, user_id="ana")
    again = memory.add({"role": "user", "content": FERRY, "id": "g"}, user_id="ana", shown=[FERRY])
    (entry,) = again.entries
    assert entry.kind == "reinforce"
    assert len(memory.get("f", user_id="ana").sources) == 2


def test_the_threshold_is_a_setting(tenant, embedder):
    half = f"{ANSWER} Tiago sells cheap honey on Sundays."
    with memory_with(tenant, embedder, only=[], gate={"covered": 0.3}) as (memory, _):
        assert memory.add(answer(half), user_id="ana", shown=[FERRY]).count("discard") == 1


@pytest.mark.parametrize("shown", ["a text", [1], 0])
def test_what_was_shown_is_a_list_of_texts(untouched, shown):
    with pytest.raises(InvalidInput, match="shown"):
        untouched.add(answer(), user_id="ana", shown=shown)


def test_a_turn_that_makes_no_note_is_in_no_context(memory):
    talk = [{"text": "Haha, thanks!", "session": "s"}, {"id": "b", "text": "Trams are yellow.", "session": "s"}]
    memory.add_many(talk, user_id="ana")
    assert memory.get("b", user_id="ana").context == "Trams are yellow."


def test_ten_rounds_of_recall_and_answer_add_nothing(memory):
    memory.add({"role": "user", "content": FERRY}, user_id="ana")
    for turn in range(10):
        shown = [enclose(hit.note.context) for hit in memory.search("When does the ferry leave?", user_id="ana")]
        memory.add(answer(id=f"{turn}"), user_id="ana", shown=shown, session="s")
        memory.add({"role": "user", "content": f"{shown[0]}", "id": f"u{turn}"}, user_id="ana", session="s")
    assert memory.stats(user_id="ana").notes == {"active": 1}
