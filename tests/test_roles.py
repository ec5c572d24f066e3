"""Roles: an answer is checked, repaired, replaced by another model's, or an error that tells what it cost."""

import json
import sys
from datetime import UTC, date, datetime

import pytest

from memgraph_engine import Settings
from memgraph_engine.answer.ask import answering
from memgraph_engine.cost import Budget, Cost
from memgraph_engine.errors import (
    BudgetSpent,
    MissingExtra,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    SettingsError,
    Unusable,
)
from memgraph_engine.ingest.extract import extraction, turn as said
from memgraph_engine.llm.role import parse, role, roles as all_roles
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Meter
from memgraph_engine.model.ports import Reply
from memgraph_engine.testing import ScriptedChat

PAIRS = role("merging").request([{"texts": ["Ana lives in Porto.", "Ana moved to Porto in March."]}])
WHERE = answering("Where does Ana live?", "[1] Ana: I moved to Porto.", datetime(2023, 5, 8, tzinfo=UTC))
GOOD = {"merges": [{"merge": 1, "context": "Ana has lived in Porto since March."}]}


def roles(chat, **llm):
    return Roles(Settings.load(llm={"retries": 0, **llm}).llm, llm=chat, sleep=lambda _: None)


def turn(number=1, **given):
    return {"turn": number, "keep": True, "context": "Ana lives in Porto.", "keywords": ["Porto"], **given}


def read(*turns):
    return parse(json.dumps({"turns": turns}), extraction([said("I live in Porto.")]))[0]


def judged(**given):
    pair = {"note": 1, "candidate": 1, "redundancy": 0.9, "complementarity": 0.1, "relation": "same", "evidence": ""}
    return parse(
        json.dumps({"pairs": [{**pair, **given}]}), role("gating").request([{"text": "a", "candidates": ["b"]}])
    )[0]


def test_a_good_answer_is_taken():
    answer = roles(ScriptedChat([GOOD])).ask(PAIRS)
    assert answer.items[0].context == "Ana has lived in Porto since March."
    assert (answer.model, answer.repaired, answer.cost.calls) == ("scripted", False, 1)


@pytest.mark.parametrize(
    "text",
    [
        f"Here it is:\n```json\n{json.dumps(GOOD)}\n```\nAnything else?",
        f'<think>Perhaps {{"merges": []}}? No.</think>{json.dumps(GOOD)}',
        json.dumps({**GOOD, "note": "extra"}),
    ],
)
def test_what_stands_around_the_json_is_overlooked(text):
    assert not roles(ScriptedChat([text])).ask(PAIRS).repaired


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I would rather not.", "no JSON object"),
        ('{"merges": [{"merge": 1, "context": "cut', "no JSON object"),
        ("", "it is empty"),
        ('{"merges": "none"}', "merges: Input should be a valid"),
        ('{"merges": [{"merge": "first", "context": "x"}]}', "merges.0.merge: Input should be a valid integer"),
        ('{"merges": [{"merge": 1, "context": " "}]}', "merges.0.context"),
        ('{"merges": []}', "1 is missing"),
        ('{"merges": [{"merge": 1, "context": "x"}, {"merge": 2, "context": "y"}]}', "2 was not asked about"),
        ('{"merges": [{"merge": 1, "context": "x"}, {"merge": 1, "context": "y"}]}', "1 comes 2 times"),
        ('{"merges": [{"merge": 1, "context": "\\ud800"}]}', "unicode"),
        ("{" * 10_000, "no JSON object"),
        ('{"a":' * 100_000, "no JSON object"),
    ],
)
def test_a_wrong_answer_is_shown_with_its_error_and_asked_again(text, shown):
    chat = ScriptedChat([text, GOOD])
    answer = roles(chat).ask(PAIRS)
    assert (answer.repaired, answer.cost.calls) == (True, 2)
    assert shown in chat.calls[1].messages[-1]["content"]
    said = [message["content"] for message in chat.calls[1].messages if message["role"] == "assistant"]
    assert said == ([text] if text else [])


def test_an_answer_that_stays_wrong_is_unusable_and_tells_its_cost():
    chat = ScriptedChat([Reply("no", Cost(1, 10, 1, 0.1)), Reply("never", Cost(1, 20, 2, 0.2))])
    with pytest.raises(Unusable, match=r"scripted gave no usable answer.*no JSON object") as caught:
        roles(chat).ask(PAIRS)
    assert (caught.value.cost.calls, caught.value.cost.tokens) == (2, 33)
    assert caught.value.cost.money == pytest.approx(0.3)


def test_an_answer_cut_off_is_not_asked_for_again():
    chat = ScriptedChat([Reply('{"merges": [', Cost(1), "length")])
    with pytest.raises(Unusable, match="cut off at 4096 tokens"):
        roles(chat).ask(PAIRS)


def test_a_whole_answer_before_the_cut_is_taken():
    reply = Reply(json.dumps(GOOD) + " And now", Cost(1), "length")
    assert not roles(ScriptedChat([reply])).ask(PAIRS).repaired


def test_a_failure_during_the_repair_keeps_the_cost_of_the_first_answer():
    chat = ScriptedChat([Reply("no", Cost(1, 10, 1, 0.1)), ModelRefused("no more")])
    with pytest.raises(ModelRefused) as caught:
        roles(chat).ask(PAIRS)
    assert (caught.value.cost.calls, caught.value.cost.money) == (2, 0.1)


def test_what_fails_in_passing_is_tried_again_and_counted():
    chat = ScriptedChat([*[ModelUnavailable("busy", retry_after=0.0)] * 3, GOOD])
    assert roles(chat, retries=3).ask(PAIRS).cost.calls == 4


def test_tries_are_further_and_further_apart_and_wait_as_long_as_asked():
    waits = []
    failures = [ModelUnavailable("busy", retry_after=after) for after in (0.0, 0.0, 7.0)]
    settings = Settings.load(llm={"retries": 3}).llm
    Roles(settings, llm=ScriptedChat([*failures, GOOD]), sleep=waits.append).ask(PAIRS)
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0
    assert waits[2] == 7.0


@pytest.mark.parametrize("after", [None, 3600.0])
def test_what_will_not_work_soon_is_not_tried_again(after):
    chat = ScriptedChat([ModelUnavailable("gone", retry_after=after)])
    with pytest.raises(ModelUnavailable, match="gone"):
        roles(chat, retries=5).ask(PAIRS)


def test_a_strangers_error_is_a_model_error():
    with pytest.raises(ModelError, match="'scripted' failed: division by zero") as caught:
        roles(ScriptedChat([ZeroDivisionError("division by zero")])).ask(PAIRS)
    assert caught.value.cost.money is None


class Odd:
    """A model that returns something else than a reply, at once or as a piece."""

    name = "odd"

    def __init__(self, given):
        self._given = given

    def chat(self, messages, **_):
        return self._given

    def chat_stream(self, messages, **_):
        yield "So: "
        yield self._given


@pytest.mark.parametrize("stream", [None, False, True])
@pytest.mark.parametrize(
    ("given", "told"),
    [
        (7, "the number 7"),
        ({"text": "Hi."}, "a mapping"),
        (Reply(None, Cost(1)), r"a Reply whose text is nothing \(None\)"),
        (Reply(b"{}", Cost(1)), "a Reply whose text is an object of the type bytes"),
        (Reply("{}", 0.01), "a Reply whose cost is the number 0.01"),
    ],
)
def test_what_a_model_returns_in_place_of_a_reply_is_named(given, told, stream):
    asked = roles(Odd(given))
    with pytest.raises(Unusable, match=f"The chat model 'odd' returned {told}") as failed:
        asked.ask(PAIRS) if stream is None else list(asked.tell(WHERE, stream=stream))
    assert (failed.value.cost.calls, failed.value.cost.money) == (1, None)


@pytest.mark.parametrize("given", [None, "Hi."])
def test_a_model_that_returns_nothing_or_a_bare_text_is_named(given):
    with pytest.raises(Unusable, match=r"The chat model 'odd' returned (nothing|a string)"):
        roles(Odd(given)).ask(PAIRS)


def test_an_unexpected_call_fails_the_test_that_made_it():
    with pytest.raises(AssertionError, match="once more than expected"):
        roles(ScriptedChat()).ask(PAIRS)


def test_many_requests_keep_their_order_and_fail_alone():
    requests = [role("merging").request([{"texts": [name, name]}]) for name in ("Ana", "Bo", "Cy")]
    other = {"merges": [{"merge": 1, "context": "Cy."}]}
    chat = ScriptedChat([GOOD, ModelRefused("not Bo"), other])
    first, second, third = roles(chat, concurrency=1).ask_many(requests)
    assert first.items[0].context.startswith("Ana")
    assert isinstance(second, ModelRefused)
    assert third.items[0].context == "Cy."
    assert roles(chat).ask_many([]) == []


def test_a_budget_stops_before_it_is_passed():
    meter = Meter(Budget(calls=1))
    chat = ScriptedChat([GOOD])
    asking = roles(chat)
    asking.ask(PAIRS, meters=[meter])
    with pytest.raises(BudgetSpent) as caught:
        asking.ask(PAIRS, meters=[meter])
    assert (caught.value.cost.calls, meter.spent.calls) == (0, 1)


def test_retries_and_repairs_count_against_the_budget():
    meter = Meter(Budget(calls=2))
    chat = ScriptedChat([ModelUnavailable("busy", retry_after=0.0), "no JSON"])
    with pytest.raises(BudgetSpent) as caught:
        roles(chat, retries=3).ask(PAIRS, meters=[meter])
    assert caught.value.cost.calls == 2


def test_the_longest_answer_allowed_must_fit_a_budget_of_tokens():
    with pytest.raises(BudgetSpent, match="tokens"):
        roles(ScriptedChat(), max_tokens=500).ask(PAIRS, meters=[Meter(Budget(tokens=500))])


def test_a_model_without_a_price_fits_no_budget_of_money():
    with pytest.raises(BudgetSpent, match="price is not known"):
        roles(ScriptedChat()).ask(PAIRS, meters=[Meter(Budget(money=10.0))])


def test_no_model_is_an_error_that_names_the_setting():
    asking = Roles(Settings.load().llm)
    assert not asking.has("merging")
    with pytest.raises(ModelUnavailable, match=r"llm\.model"):
        asking.ask(PAIRS)


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    all_roles.cache_clear()
    with pytest.raises(MissingExtra, match=r"The chat model needs .*memgraph-engine\[llm\]"):
        Roles(Settings.load(llm={"roles": {"gating": {"model": "openai/one"}}}).llm)


def test_without_a_model_no_extra_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    monkeypatch.setitem(sys.modules, "yaml", None)
    all_roles.cache_clear()
    assert not Roles(Settings.load().llm).has("extraction")


def test_a_role_has_its_own_settings():
    chat = ScriptedChat([GOOD])
    roles(chat, temperature=0.0, roles={"merging": {"temperature": 0.7, "max_tokens": 99, "timeout": 5}}).ask(PAIRS)
    call = chat.calls[0]
    assert (call.temperature, call.max_tokens, call.timeout) == (0.7, 99, 5)
    assert call.json_schema["required"] == ["merges"]


def test_a_role_can_be_left_without_a_model(monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__MODEL", "openai/one")
    monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__ROLES__GATING__MODEL", "")
    llm = Settings.load().llm
    for asking in (Roles(llm), Roles(llm, llm=ScriptedChat())):
        assert (asking.has("merging"), asking.has("gating")) == (True, False)


def test_a_role_that_nothing_asks_is_refused():
    with pytest.raises(SettingsError, match=r"llm\.roles\.consolidator: there is no such setting"):
        Settings.load(llm={"roles": {"consolidator": {"model": "openai/one"}}})


@pytest.mark.parametrize("given", [object(), ScriptedChat(name="")])
def test_what_is_no_chat_model_is_refused(given):
    with pytest.raises(SettingsError, match="needs a name"):
        roles(given)


def test_keywords_are_stripped_differ_and_are_at_most_eight():
    assert read(turn(keywords=[" Porto ", "porto", "", *"abcdefgh"])).keywords == ("Porto", *"abcdefg")
    assert read(turn(keywords=None)).keywords == ()


def test_event_days_are_dates_or_nothing():
    found = read(turn(event_from="2023-05-01", event_to="2023-05-31T00:00:00Z"))
    assert (found.event_from, found.event_to) == (date(2023, 5, 1), date(2023, 5, 31))
    assert read(turn(event_from=None, event_to="")).event_from is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"event_from": "last Friday"},
        {"event_from": "2023-05"},
        {"event_from": 1683504000},
        {"event_from": "2023-02-30"},
        {"event_from": "2023-05-08", "event_to": "2023-05-01"},
        {"context": ""},
        {"context": "…"},
        {"keep": "perhaps"},
        {"keywords": [1, 2]},
    ],
)
def test_a_turn_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=r"turns\.0"):
        read(turn(**wrong))


def test_small_talk_needs_no_context():
    assert not read({"turn": 1, "keep": False, "context": None}).keep


@pytest.mark.parametrize(
    "wrong",
    [
        {"redundancy": 1.01},
        {"redundancy": -0.1},
        {"complementarity": float("nan")},
        {"complementarity": "high"},
        {"relation": "identical"},
    ],
)
def test_a_judgement_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=r"pairs\.0"):
        judged(**wrong)


def test_a_relation_may_be_written_with_a_capital():
    assert judged(relation=" Update").relation == "update"


def test_requests_are_split_by_tokens_and_keep_their_order():
    turns = [said("word " * n) for n in (1, 50, 2000, 3, 4)]
    split = list(role("extraction").batches(turns, dict, limit=200))
    assert [one for batch in split for one in batch] == turns
    assert [len(batch) for batch in split] == [2, 1, 2]
    assert list(role("extraction").batches([], dict, limit=10)) == []


def test_what_is_answered_for_each_pair_counts_too():
    ten, one, none = ({"text": "a", "candidates": ["b"] * times} for times in (10, 1, 0))
    assert role("gating").tokens(ten) > role("gating").tokens(one) + 9 * 40
    assert role("gating").request([none]).asked == frozenset()
