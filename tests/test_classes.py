"""Where a chat model gives classes to what no rule places: what it is asked, who counts above it, what follows."""

from datetime import timedelta

import pytest

from memgraph_engine import Settings
from memgraph_engine.errors import ModelUnavailable, NotFound
from memgraph_engine.lifecycle.file import policies
from tests.models import extracted, memory_with, small_talk, turn

ANA = {"user_id": "ana"}
FILE = """
default: factual
classes:
  factual: {ttl: 30d, about: "facts"}
  passing: {ttl: 24h, archive: 30d, about: "what is of no use tomorrow"}
  yearly: {ttl: 365d, about: "plans"}
  lasting: {ttl: none, about: "rules"}
  private: {ttl: 7d, at_end: erase, models: false, shown: asked}
rules:
  - {when: {tags: [secret]}, class: private}
  - {when: {tags: [fact]}, class: factual}
"""


@pytest.fixture
def models(tenant, embedder, tmp_path):
    """Memories by a policy file, with a model that gives classes."""

    def made(*answers, classes="models", file=FILE, **given):
        path = tmp_path / "policies.yaml"
        path.write_text(file, "utf-8")
        policies.cache_clear()
        lifecycle = {"policies": str(path), "classes": classes}
        return memory_with(tenant, embedder, answers, only=["extraction"], lifecycle=lifecycle, **given)

    return made


def of(name, number=1, context="The bus is late.", **given):
    return turn(number, context, **{"class": name}, **given)


def note(memory, id="a"):
    return memory.get(id, **ANA)


def test_a_model_gives_a_class_in_the_request_that_writes_the_context(models):
    with models(extracted(of("passing"))) as (memory, chat):
        receipt = memory.add({"id": "a", "text": "The bus is late again."}, **ANA)
        one, (source,), told = note(memory), note(memory).sources, memory.explain("a", **ANA)
        assert (one.policy, one.context, receipt.fallbacks) == ("passing", "The bus is late.", ())
        assert one.expires_at - source.begins_at == timedelta(days=1)
        assert (source.policy, source.policy_as, source.policy_by) == ("passing", "passing", "scripted")
        assert "scripted gave it the class passing." in told.decisions[0].evidence
        assert memory.verify(**ANA) == []
    (call,) = chat.calls
    assert '{"class": "passing", "about": "what is of no use tomorrow"}' in call.text
    assert "private" not in call.text  # no model may see what is of it, so none gives it


def test_by_default_no_class_is_asked_for(models):
    with models(extracted("The bus is late."), classes="rules") as (memory, chat):
        memory.add({"id": "a", "text": "The bus is late again."}, **ANA)
        assert (note(memory).policy, note(memory).sources[0].policy_by) == ("factual", "")
    assert '"class"' not in chat.calls[0].text
    assert Settings.load().lifecycle.classes == "rules"


def test_what_a_rule_or_its_sender_placed_is_not_asked_about_and_what_is_private_not_sent(models):
    with models(extracted("A fact."), extracted("Sent.")) as (memory, chat):
        memory.add({"id": "a", "text": "The ferry is red.", "tags": ["fact"]}, **ANA)
        memory.add({"id": "b", "text": "The ferry is red and white.", "policy": "lasting"}, **ANA)
        memory.add({"id": "c", "text": "My code is 4711.", "tags": ["secret"]}, **ANA)
        assert [note(memory, id).policy for id in "abc"] == ["factual", "lasting", "private"]
        assert {note(memory, id).sources[0].policy_by for id in "abc"} == {""}
    assert len(chat.calls) == 2
    assert not any('"class"' in call.text or "4711" in call.text for call in chat.calls)


def test_a_turn_beside_others_keeps_the_class_of_its_rule_whatever_the_model_says(models):
    answer = extracted(of("passing"), of("passing", 2, "The ferry is red."))
    with models(answer, extracted("The ferry is red.")) as (memory, _):
        turns = [{"id": "a", "text": "The bus is late."}, {"id": "b", "text": "The ferry is red.", "tags": ["fact"]}]
        memory.add_many(turns, **ANA)
        assert [note(memory, id).policy for id in "ab"] == ["passing", "factual"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (extracted(of("forever")), "the class 'forever', which is none of factual, passing, yearly, lasting"),
        (extracted(of("private")), "the class 'private', which is none of"),
        (extracted("The bus is late."), "gave 'a' no class"),
        (ModelUnavailable("It is away."), "Extraction was done without a model: It is away."),
    ],
)
def test_a_class_that_there_is_not_leaves_that_of_the_rules_and_is_told(models, answer, told):
    with models(answer) as (memory, _):
        receipt = memory.add({"id": "a", "text": "The bus is late again."}, **ANA)
        assert (note(memory).policy, note(memory).sources[0].policy_by) == ("factual", "")
        assert told in "\n".join(receipt.fallbacks)


def test_what_makes_no_note_needs_no_class(models):
    with models(extracted(small_talk())) as (memory, _):
        assert memory.add({"id": "a", "text": "Well, you know how that is."}, **ANA).fallbacks == ()


def test_no_context_holds_what_was_shown_beside_it_and_ends_sooner(models):
    first = extracted(of("lasting", 1, "Dogs are not allowed, said while the bus was late."), of("passing", 2))
    with models(first, extracted("Dogs are not allowed.")) as (memory, chat):
        turns = [
            {"id": "a", "text": "No dogs here.", "session": "s"},
            {"id": "b", "text": "A late bus.", "session": "s"},
        ]
        memory.add_many(turns, **ANA)
        assert (note(memory).policy, note(memory).context) == ("lasting", "Dogs are not allowed.")
        assert (note(memory, "b").policy, note(memory, "b").context) == ("passing", "The bus is late.")
        assert memory.verify(**ANA) == []
    assert "A late bus." not in chat.calls[1].text


def test_turns_of_one_class_are_read_once(models):
    with models(extracted(of("passing"), of("passing", 2, "The tram is late."))) as (memory, chat):
        memory.add_many([{"id": "a", "text": "A late bus."}, {"id": "b", "text": "A late tram."}], **ANA)
        assert [note(memory, id).policy for id in "ab"] == ["passing", "passing"]
    assert chat.left == 0


def test_a_turn_that_outlives_the_one_before_it_is_read_without_that(models):
    answers = [
        extracted(of("yearly")),
        extracted(of("lasting", 1, "Dogs pay, said of the bus.")),
        extracted("Dogs pay."),
    ]
    with models(*answers) as (memory, chat):
        memory.add({"id": "a", "text": "A late bus.", "session": "s"}, **ANA)
        memory.add({"id": "b", "text": "Dogs pay.", "session": "s"}, **ANA)
        assert (note(memory, "b").policy, note(memory, "b").context) == ("lasting", "Dogs pay.")
    assert ["A late bus." in call.text for call in chat.calls] == [True, True, False]


def test_a_rule_that_comes_later_stands_above_a_models_class(models, tenant, embedder):
    with models(extracted(of("lasting", 1, "The code is 4711."))) as (memory, _):
        memory.add({"id": "a", "text": "The code is 4711.", "tags": ["door"]}, **ANA)
        assert (note(memory).policy, memory.apply_policies(**ANA).decisions) == ("lasting", ())
    with models(file=FILE.replace("[secret]", "[door]")) as (memory, _):
        memory.apply_policies(**ANA)
        assert (note(memory).policy, note(memory).apart) == ("private", "private")
        assert memory.verify(**ANA) == []


def test_a_note_that_waited_gets_its_class_when_it_is_constructed_and_loses_it_by_undo(models):
    with models(extracted(of("passing")), extracted(of("lasting"))) as (memory, _):
        memory.add({"id": "a", "text": "The bus is late again."}, **ANA, wait=False)
        assert note(memory).policy == "factual"
        (entry,) = memory.process(**ANA).entries
        assert (note(memory).policy, note(memory).sources[0].policy_as) == ("passing", "passing")
        assert note(memory).expires_at - note(memory).sources[0].begins_at == timedelta(days=1)
        memory.undo(entry.decision, **ANA)
        source = note(memory).sources[0]
        assert (note(memory).status, note(memory).policy, source.policy_as, source.policy_by) == (
            "pending", "factual", "", "",
        )  # fmt: skip
        memory.process(**ANA)
        assert note(memory).policy == "lasting"
        assert memory.verify(**ANA) == []


def test_the_class_that_a_user_gave_while_it_waited_stays(models):
    with models(extracted(of("passing"))) as (memory, _):
        memory.add({"id": "a", "text": "The bus is late again."}, **ANA, wait=False)
        memory.set_policy("a", "lasting", **ANA)
        memory.process(**ANA)
        assert note(memory).policy == "lasting"


def test_undo_and_erasure_take_it_away_with_its_source(models):
    with models(extracted(of("passing")), extracted(of("passing"))) as (memory, _):
        (entry,) = memory.add({"id": "a", "text": "The bus is late again."}, **ANA).entries
        memory.undo(entry.decision, **ANA)
        with pytest.raises(NotFound):
            note(memory)
        memory.add({"id": "a", "text": "The bus is late again."}, **ANA)
        assert note(memory).policy == "passing"
        memory.erase(memory.forget(source="a", **ANA))
        assert memory.verify(**ANA) == []
        with pytest.raises(NotFound):
            note(memory)


def test_the_passages_of_a_long_message_are_of_one_class_or_of_that_of_the_rules(models):
    text = "The bus was late on Monday. " * 40
    for given, policy in (("passing", "passing"), ("lasting", "factual")):
        answer = extracted(of("passing"), of(given, 2, "The bus is red."))
        with models(answer, extracted("The bus is red."), passage=200) as (memory, _):
            (entry,) = memory.add({"id": policy, "text": text[: 28 * 14]}, **ANA).entries
            assert len(entry.passages) == 2
            assert {memory.get(one.note, **ANA).policy for one in entry.passages} == {policy}


def test_an_export_holds_who_gave_a_class(models, tmp_path):
    with models(extracted(of("passing"))) as (memory, _):
        memory.add({"id": "a", "text": "The bus is late again."}, **ANA)
        memory.export(tmp_path / "ana.jsonl", **ANA)
        memory.import_(tmp_path / "ana.jsonl", user_id="bo")
        assert memory.get("a", user_id="bo").sources[0].policy_by == "scripted"
