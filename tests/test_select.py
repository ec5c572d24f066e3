"""The second stage of a search: what reads the best notes orders or chooses them; where it fails, they stay."""

import json
import math
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import hypothesis.strategies as st
import pytest
from hypothesis import given
from typer.testing import CliRunner

from memgraph_engine import AsyncMemory, Memory, Settings
from memgraph_engine.cli import app
from memgraph_engine.cost import Cost
from memgraph_engine.errors import MissingExtra, ModelRefused, ModelUnavailable, SettingsError
from memgraph_engine.llm.roles import Roles
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Note
from memgraph_engine.model.ports import Reply, Reranker
from memgraph_engine.model.result import Hit, Hits
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.question import Filters
from memgraph_engine.recall.search import Query
from memgraph_engine.recall.select import Selector
from memgraph_engine.reranking.choose import reranker_named
from memgraph_engine.testing import HashingEmbedder, ScriptedChat
from tests.loopback import forget_clients
from tests.models import memory_with

ANA = {"user_id": "ana"}
TALK = [
    "My sister Ines moved to Porto last year.",
    "Ines works at the aquarium, with the otters.",
    "The otters are fed at noon.",
    "The bakery opens at six.",
    "I painted the fence green.",
    "The aquarium has a new roof.",
]
QUESTION = "Who works at the aquarium with the otters?"
EVERYTHING = {"relevance": 0.0}
POLICIES = """
default: factual
classes:
  factual: {ttl: none}
  unseen: {ttl: none, models: false}
"""
SELECTED = {"recall": {"reranker": "llm"}, "only": ["selecting"]}


class Scripted:
    """A reranker that scores texts as it is told, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, scored, *, remote=False):
        self.scored, self.remote, self.asked = scored, remote, []

    def rerank(self, query, texts):
        self.asked.append((query, list(texts)))
        return self.scored(texts)


def reverse(texts):
    return range(len(texts))


def down(texts):
    raise ModelUnavailable("the reranker is down")


def broken(texts):
    raise KeyError("weights")


def with_reranker(memory, reranker, **recall):
    settings = memory.engine.settings
    changed = settings.model_copy(update={"recall": settings.recall.model_copy(update=recall)})
    return Memory(replace(memory.engine, reranker=reranker, settings=changed))


def plain(memory):
    """The memory without the role."""
    settings = memory.engine.settings
    recall = settings.recall.model_copy(update={"reranker": ""})
    return Memory(replace(memory.engine, settings=settings.model_copy(update={"recall": recall})))


@pytest.fixture(scope="module")
def talk(kept):
    return kept(lambda memory: memory.add_many(TALK, **ANA))


@pytest.fixture
def own(memory):
    memory.add_many(TALK, **ANA)
    return memory


def told(hits):
    return [(hit.note.id, hit.score, hit.similarity, hit.relevance) for hit in hits]


def ids(hits):
    return [hit.note.id for hit in hits]


def contexts(hits):
    return [hit.note.context for hit in hits]


# ---- a reranker ------------------------------------------------------------------------------


def test_a_reranker_puts_the_notes_in_its_own_order(talk):
    local, reranker = talk.search(QUESTION, **ANA), Scripted(reverse)
    hits = with_reranker(talk, reranker).search(QUESTION, **ANA)
    assert isinstance(reranker, Reranker)
    assert len(hits) == len(TALK)
    assert ids(hits) == ids(local)[::-1]
    assert reranker.asked == [(QUESTION, contexts(local))]
    assert [hit.score for hit in hits] == [hit.score for hit in local]  # each place has the score that it had
    assert {hit.note.id: hit.similarity for hit in hits} == {hit.note.id: hit.similarity for hit in local}
    assert (hits.dropped, hits.fallbacks, hits.among) == ({}, (), len(TALK))


def test_it_reads_twice_as_many_notes_as_are_asked_for_and_what_is_dropped_says_why(talk):
    local, reranker = talk.search(QUESTION, **ANA), Scripted(reverse)
    hits = with_reranker(talk, reranker).search(QUESTION, **ANA, top_k=2)
    assert contexts(local)[:4] == reranker.asked[0][1]
    assert ids(hits) == [local[3].note.id, local[2].note.id]
    assert hits.dropped == dict.fromkeys(ids(local)[:2], "scripted put it below the best 2")


@pytest.mark.parametrize(("times", "read"), [(1, 2), (3, 6), (10, 6)])
def test_how_many_it_reads_is_a_setting(talk, times, read):
    reranker = Scripted(reverse)
    hits = with_reranker(talk, reranker, candidates=times).search(QUESTION, **ANA, top_k=2)
    assert len(reranker.asked[0][1]) == read
    assert len(hits) == 2


def test_what_it_scores_alike_stays_in_order(talk):
    hits = with_reranker(talk, Scripted(lambda texts: [0.5] * len(texts))).search(QUESTION, **ANA)
    assert told(hits) == told(talk.search(QUESTION, **ANA))


@pytest.mark.parametrize(
    ("scored", "why"),
    [
        (down, "the reranker is down"),
        (broken, "scripted failed on 4 texts: KeyError"),
        (lambda texts: [1.0] * (len(texts) - 1), "gave 3 scores for 4 texts"),
        (lambda texts: [1.0] * (len(texts) + 1), "gave 5 scores for 4 texts"),
        (lambda texts: [], "gave 0 scores"),
        (lambda texts: [math.nan, *reverse(texts[1:])], "no finite number"),
        (lambda texts: [math.inf, *reverse(texts[1:])], "no finite number"),
        (lambda texts: None, "failed on 4 texts: TypeError"),
        (lambda texts: ["good"] * len(texts), "failed on 4 texts: ValueError"),
        (lambda texts: [[1.0, 2.0]] * len(texts), "failed on 4 texts: TypeError"),
    ],
)
def test_if_it_fails_the_notes_stay_as_they_are_and_the_reason_is_told(talk, scored, why):
    memory = with_reranker(talk, Scripted(scored))
    hits = memory.search(QUESTION, **ANA, top_k=2, explain=True)
    assert told(hits) == told(talk.search(QUESTION, **ANA, top_k=2))
    assert [hit.explanation.reranked for hit in hits] == [None, None]
    assert hits.dropped == {}
    (told_why,) = hits.fallbacks
    assert told_why.startswith("Reranking the notes was done without a model: ")
    assert why in told_why
    context, local = memory.context(QUESTION, **ANA, top_k=2), talk.context(QUESTION, **ANA, top_k=2)
    assert (context.text, context.left_out) == (local.text, local.left_out)
    assert [why in one for one in context.fallbacks] == [True]
    assert context.cost == Cost()


def test_explain_tells_where_each_hit_stood_and_what_it_was_given(talk):
    local = talk.search(QUESTION, **ANA)
    hits = with_reranker(talk, Scripted(reverse)).search(QUESTION, **ANA, explain=True)
    made = [hit.explanation.reranked for hit in hits]
    assert [one.place for one in made] == [6, 5, 4, 3, 2, 1]
    assert [one.before for one in made] == [hit.score for hit in local[::-1]]
    assert [(one.by, one.score) for one in made] == [("scripted", float(score)) for score in range(5, -1, -1)]
    assert [hit.explanation.reranked for hit in talk.search(QUESTION, **ANA, explain=True)] == [None] * 6


def test_a_search_without_one_and_with_one_sends_the_same_statements(talk, monkeypatch):
    sent, run = [], talk.engine.db.run
    monkeypatch.setattr(talk.engine.db, "run", lambda name, **given: sent.append(name) or run(name, **given))
    some = [talk, talk, talk, with_reranker(talk, Scripted(reverse))]
    for memory in some:  # the first two fill the cache
        sent.append("again")
        memory.search(QUESTION, **ANA)
    *_, local, reranked = " ".join(sent).split("again")
    assert reranked.split() == local.split() != []


def test_an_empty_memory_asks_it_nothing(memory):
    reranker = Scripted(reverse)
    assert with_reranker(memory, reranker).search(QUESTION, **ANA) == []
    assert reranker.asked == []


def test_it_is_asked_once_after_all_rounds_and_about_the_question_itself(talk):
    reranker = Scripted(reverse)
    question = "When can one watch the animals of the sister's employer?"
    hits = with_reranker(talk, reranker).search(question, **ANA, rounds=3, explain=True)
    assert len(hits[0].explanation.rounds) == 2
    assert [asked for asked, _ in reranker.asked] == [question]
    assert ids(hits) == ids(talk.search(question, **ANA, rounds=3))[::-1]


def test_what_is_true_now_stands_first_whatever_it_prefers(memory):
    memory.add("My favourite tea is mint.", **ANA, time="2024-05-01", id="old")
    memory.add("My favourite tea is ginger these days.", **ANA, time="2024-06-01", id="new")
    memory.add("Tea is sold on the pier.", **ANA, time="2024-05-02")
    reranker = Scripted(lambda texts: [float("pier" in text) - float("ginger" in text) for text in texts])
    hits = with_reranker(memory, reranker).search("What is the favourite tea?", **ANA, explain=True)
    assert ["pier" in hits[0].note.text, "ginger" in hits[1].note.text, "mint" in hits[2].note.text] == [True] * 3
    assert hits[2].replaced_by == hits[1].note.id
    assert [hit.explanation.reranked.score for hit in hits] == [1.0, -1.0, 0.0]
    assert hits[0].score > hits[1].score == hits[2].score


def test_filters_and_the_least_similarity_hold(own):
    own.add("The otters of the zoo bite.", user_id="ana", speaker="Ben")
    reranker = Scripted(reverse)
    memory = with_reranker(own, reranker)
    assert contexts(memory.search(QUESTION, **ANA, speaker="Ben")) == ["Ben: The otters of the zoo bite."]
    similar = sorted((hit.similarity for hit in own.search(QUESTION, **ANA)), reverse=True)
    hits = memory.search(QUESTION, **ANA, top_k=2, min_similarity=similar[2] - 1e-4)
    assert len(reranker.asked[-1][1]) == 3
    assert len(hits) == 2


def test_a_look_back_is_reranked_in_the_words_of_then(own):
    own.add("The otters are fed at one.", **ANA, id="fed")
    known = max(note.recorded_at for note in own.get_all(**ANA))
    own.update("fed", "The otters are fed at two.", **ANA)
    reranker = Scripted(reverse)
    hits = with_reranker(own, reranker).search("When are the otters fed?", **ANA, known_at=known)
    assert any("at one" in text for text in reranker.asked[0][1])
    assert not any("at two" in text for text in reranker.asked[0][1])
    assert ids(hits) == ids(own.search("When are the otters fed?", **ANA, known_at=known))[::-1]


def test_what_is_shared_is_read_with_the_users_own_and_nothing_of_others(own):
    own.add("The otters are called Castor and Pollux.", shared=True)
    own.add("The otters bit me.", user_id="ben")
    reranker = Scripted(reverse)
    with_reranker(own, reranker).search(QUESTION, **ANA)
    ((_, texts),) = reranker.asked
    assert sorted(texts) == sorted([*TALK, "The otters are called Castor and Pollux."])


@pytest.fixture
def guarded(tenant, embedder, tmp_path):
    """A memory of which the best note is kept from chat models."""
    file = tmp_path / "policies.yaml"
    file.write_text(POLICIES)
    settings = Settings.load(lifecycle={"policies": str(file)})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings) as memory:
        memory.add_many([{"text": text, "policy": "unseen" if text == TALK[1] else "factual"} for text in TALK], **ANA)
        yield memory


def test_a_reranker_of_a_provider_is_not_shown_what_no_model_may_see_and_that_keeps_its_place(guarded):
    local = guarded.search(QUESTION, **ANA, top_k=3)
    assert local[0].note.context == TALK[1]
    reranker = Scripted(reverse, remote=True)
    hits = with_reranker(guarded, reranker).search(QUESTION, **ANA, top_k=3, explain=True)
    assert all(TALK[1] not in text for text in reranker.asked[0][1])
    assert ids(hits)[0] == ids(local)[0]
    assert hits[0].explanation.reranked.by == ""
    assert contexts(hits)[1:] == reranker.asked[0][1][:-3:-1]
    assert local[0].note.id not in hits.dropped


def test_a_reranker_on_this_machine_is_shown_all(guarded):
    reranker = Scripted(reverse)
    hits = with_reranker(guarded, reranker).search(QUESTION, **ANA)
    assert sorted(reranker.asked[0][1]) == sorted(TALK)
    assert contexts(hits)[-1] == TALK[1]


def test_a_busy_client_leaves_it_out_and_says_so(talk):
    reranker = Scripted(reverse)
    settings = talk.engine.settings
    busy = settings.model_copy(update={"recall": settings.recall.model_copy(update={"busy": 1})})
    memory = Memory(replace(talk.engine, reranker=reranker, settings=busy, load=type(talk.engine.load)(1)))
    with memory.engine.load.read():
        hits = memory.search(QUESTION, **ANA)
        assert "reranker" in memory.context(QUESTION, **ANA).fallbacks[0]
    assert hits.degraded[-1] == "reranker"
    assert reranker.asked == []
    assert memory.search(QUESTION, **ANA).degraded == ()
    assert len(reranker.asked) == 1


def test_forgetting_and_auditing_look_for_all_that_there_is_without_it(talk):
    reranker = Scripted(reverse)
    memory = with_reranker(talk, reranker)
    plans = [one.forget(query="otters at the aquarium", **ANA) for one in (memory, talk)]
    assert plans[0].chosen == plans[1].chosen != ()
    assert plans[0].near == plans[1].near
    assert memory.audit.about("otters", **ANA) == talk.audit.about("otters", **ANA)
    assert reranker.asked == []


async def _asked(tenant, embedder, reranker):
    async with await AsyncMemory.connect(tenant=tenant, embedder=embedder, reranker=reranker) as memory:
        await memory.add_many(TALK, **ANA)
        return await memory.search(QUESTION, **ANA)


def test_an_async_memory_takes_one_too(tenant, embedder):
    import asyncio

    reranker = Scripted(reverse)
    hits = asyncio.run(_asked(tenant, embedder, reranker))
    assert contexts(hits) == reranker.asked[0][1][::-1]


def test_the_command_tells_it(talk, embedder, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", talk.engine.settings.tenant)
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.setattr("memgraph_engine.engine.wiring.reranker_named", lambda settings: Scripted(reverse))
    shown = CliRunner().invoke(app, ["search", QUESTION, "--user", "ana", "-n", "2", "--explain"])
    assert "before: place 4, score " in shown.stdout
    assert ", scripted 3.000" in shown.stdout
    assert shown.stdout.count("scripted put it below the best 2") == 2
    monkeypatch.setattr("memgraph_engine.engine.wiring.reranker_named", lambda settings: Scripted(down))
    failed = CliRunner().invoke(app, ["search", QUESTION, "--user", "ana", "--json"])
    assert len(json.loads(failed.stdout)) == len(TALK)
    assert failed.stderr == "Reranking the notes was done without a model: the reranker is down\n"


# ---- the role `selecting` --------------------------------------------------------------------


def selected(*keep):
    return {"keep": list(keep)}


def test_a_chat_model_keeps_what_answers_the_question(tenant, embedder):
    answers = [Reply(json.dumps(selected(3, 1)), Cost(1, 100, 5, 0.01))]
    with memory_with(tenant, embedder, answers, **SELECTED) as (memory, chat):
        memory.add_many(TALK, **ANA)
        local = plain(memory).search(QUESTION, **ANA)
        hits = memory.search(QUESTION, **ANA, top_k=4, explain=True)
        spent = memory.cost(**ANA)
    assert ids(hits) == [local[2].note.id, local[0].note.id]
    assert [hit.score for hit in hits] == [local[0].score, local[1].score]
    dropped = {note for at, note in enumerate(ids(local)) if at not in (0, 2)}
    assert hits.dropped == dict.fromkeys(dropped, f"{chat.name} read it, and kept 2 of 6 notes")
    made = [hit.explanation.reranked for hit in hits]
    assert [(one.place, one.before, one.by, one.score) for one in made] == [
        (3, local[2].score, chat.name, None),
        (1, local[0].score, chat.name, None),
    ]
    assert "at most 4 notes" in chat.calls[0].messages[0]["content"]
    shown = [json.loads(line) for line in chat.calls[0].messages[1]["content"].splitlines() if line.startswith("{")]
    assert shown[0] == {"question": QUESTION}
    said = local[0].note.said_at.date().isoformat()
    assert shown[1:] == [{"note": at, "text": hit.note.context, "said": said} for at, hit in enumerate(local, 1)]
    assert [(day.cost.calls, day.cost.input_tokens) for day in spent] == [(1, 100)]


def test_the_selector_is_shown_the_queries_of_a_plan_and_who_said_what_when(tenant, embedder):
    queries = ["Who feeds otters?", "Where are otters kept?"]
    plan = {"questions": [{"question": 1, "queries": queries}]}
    given = {"recall": {"reranker": "llm", "rounds": 2, "sufficient": 0.0}, "only": ["planning", "selecting"]}
    with memory_with(tenant, embedder, [plan, selected(1)], **given) as (memory, chat):
        memory.add_many([{"text": text, "speaker": "Ana", "time": "2024-05-06"} for text in TALK], **ANA)
        memory.search(QUESTION, **ANA, top_k=4)
    shown = [json.loads(line) for line in chat.calls[-1].messages[1]["content"].splitlines() if line.startswith("{")]
    assert shown[0] == {"question": QUESTION, "queries": queries}
    assert {(one["said"], one["by"]) for one in shown[1:]} == {("2024-05-06", "Ana")}


def test_a_context_tells_what_it_left_out_and_what_it_cost(tenant, embedder):
    answers = [Reply(json.dumps(selected(1)), Cost(1, 100, 5, 0.01))]
    with memory_with(tenant, embedder, answers, answer={**EVERYTHING, "rounds": 1}, **SELECTED) as (memory, chat):
        memory.add_many(TALK, **ANA)
        context = memory.context(QUESTION, **ANA)
        (entry,) = context.entries
        others = {note.id for note in memory.get_all(**ANA)} - {entry.note.id}
    assert entry.note.context == TALK[1]
    assert context.left_out == dict.fromkeys(others, f"{chat.name} read it, and kept 1 of 6 notes")
    assert (context.cost.calls, context.cost.input_tokens) == (1, 100)
    assert context.fallbacks == ()


def test_it_may_keep_nothing_and_no_more_than_is_asked_for(tenant, embedder):
    with memory_with(tenant, embedder, [selected(), selected(4, 3, 2, 1)], **SELECTED) as (memory, _):
        memory.add_many(TALK, **ANA)
        none = memory.search(QUESTION, **ANA, top_k=2)
        assert (list(none), len(none.dropped)) == ([], 4)
        local = plain(memory).search(QUESTION, **ANA)
        assert ids(memory.search(QUESTION, **ANA, top_k=2)) == [local[3].note.id, local[2].note.id]


WRONG = [
    (selected(1, 7), "7 was not asked about"),
    (selected(0), "0 was not asked about"),
    (selected(2, 2), "2 comes 2 times"),
    ({"keep": None}, "keep"),
    ({}, "keep: Field required"),
    ("The first two.", "no JSON object"),
    (ModelUnavailable("gone"), "gone"),
]


def test_if_it_keeps_what_it_was_not_shown_or_fails_the_notes_stay_as_they_are(tenant, embedder):
    with memory_with(tenant, embedder, **SELECTED) as (memory, _):
        memory.add_many(TALK, **ANA)
        local = plain(memory).search(QUESTION, **ANA)
        for answer, why in WRONG:
            roles = Roles(memory.engine.settings.llm, llm=ScriptedChat([answer] * 2))
            hits = Memory(replace(memory.engine, roles=roles)).search(QUESTION, **ANA)
            assert told(hits) == told(local), why
            assert hits.dropped == {}, why
            (told_why,) = hits.fallbacks
            assert told_why.startswith("Selecting the notes was done without a model: ")
            assert why in told_why


def test_a_spent_budget_leaves_the_notes_as_they_are(tenant, embedder):
    llm = {"call_budget": {"tokens": 10}}
    with memory_with(tenant, embedder, llm=llm, **SELECTED) as (memory, chat):
        memory.add_many(TALK, **ANA)
        hits = memory.search(QUESTION, **ANA)
    assert len(hits) == len(TALK)
    assert "could pass the budget of this call" in hits.fallbacks[0]
    assert chat.calls == []


def test_it_sees_nothing_that_is_kept_from_models_and_that_is_not_dropped(tenant, embedder, tmp_path):
    file = tmp_path / "policies.yaml"
    file.write_text(POLICIES)
    answers, lifecycle = [selected(2), selected()], {"policies": str(file)}
    with memory_with(tenant, embedder, answers, lifecycle=lifecycle, **SELECTED) as (memory, chat):
        memory.add_many([{"text": text, "policy": "unseen" if text == TALK[1] else "factual"} for text in TALK], **ANA)
        local = plain(memory).search(QUESTION, **ANA)
        assert local[0].note.context == TALK[1]
        hits = memory.search(QUESTION, **ANA, top_k=3)
        assert ids(hits) == [local[0].note.id, local[2].note.id]
        assert ids(memory.search(QUESTION, **ANA, top_k=3)) == [local[0].note.id]
    assert all(TALK[1] not in call.text for call in chat.calls)
    assert "at most 2 notes" in chat.calls[0].messages[0]["content"]


def test_a_memory_that_was_never_written_to_asks_no_model(tenant, embedder):
    with memory_with(tenant, embedder, **SELECTED) as (memory, chat):
        assert memory.search(QUESTION, user_id="nobody") == []
    assert chat.calls == []


def test_a_reranker_of_ones_own_is_asked_in_place_of_the_role(tenant, embedder):
    reranker = Scripted(reverse)
    with memory_with(tenant, embedder, **SELECTED) as (memory, chat):
        memory.add_many(TALK, **ANA)
        hits = with_reranker(memory, reranker).search(QUESTION, **ANA)
    assert contexts(hits) == reranker.asked[0][1][::-1]
    assert chat.calls == []


# ---- settings --------------------------------------------------------------------------------


def named(reranker):
    return Settings.load(recall={"reranker": reranker})


def test_a_reranker_is_named_in_the_settings():
    assert reranker_named(Settings.load()) is None
    assert reranker_named(named("llm")) is None
    for wrong in ("guess", "sentence-transformers/", "litellm"):
        with pytest.raises(SettingsError, match=f"no reranker '{wrong}'"):
            reranker_named(named(wrong))


def test_the_role_needs_a_model():
    with pytest.raises(SettingsError, match="role selecting has no model"):
        Memory.connect("bolt://127.0.0.1:1", embedder=HashingEmbedder(), settings=named("llm"))


@pytest.mark.parametrize("wrong", [object(), type("NoName", (), {"name": "", "rerank": print})(), "cross-encoder"])
def test_what_is_no_reranker_is_refused(wrong):
    with pytest.raises(SettingsError, match="needs a name"):
        Memory.connect("bolt://127.0.0.1:1", embedder=HashingEmbedder(), reranker=wrong)


def test_a_cross_encoder_needs_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="The reranker sentence-transformers/tiny needs"):
        reranker_named(named("sentence-transformers/tiny"))


# ---- how many, in any case -------------------------------------------------------------------

TIMES, BEGIN = Settings.load().recall.candidates, datetime(2024, 5, 1, tzinfo=UTC)
ROLES = Settings.load(llm={"retries": 0}).llm


def hit(number, score, *, hidden):
    times = {"said_at": BEGIN, "created_at": BEGIN, "recorded_at": BEGIN, "superseded_at": NEVER}
    valid = {"valid_from": UNKNOWN_PAST, "valid_to": NEVER}
    who = {"session": "", "seq": 0, "speaker": "", "role": "", "agent": ""}
    note = Note(str(number), (f"{number}",), f"{number}", "active", **who, **times, **valid)
    return Hit(replace(note, apart="unseen" if hidden else None), score, 0.0)


def query(top_k):
    return Query("What?", None, [Scope("a", "b")], Filters(), top_k, BEGIN)


@st.composite
def found(draw):
    """Hits as the first stage gives them to a second, some of them kept from models; and how many are asked for."""
    top_k = draw(st.integers(1, 150))
    number = draw(st.integers(0, max(top_k, min(TIMES * top_k, 100))))
    hidden = draw(st.lists(st.booleans(), min_size=number, max_size=number))
    return top_k, Hits([hit(at, 1 - at / 200, hidden=hides) for at, hides in enumerate(hidden)], among=number)


@given(found(), st.randoms(use_true_random=False), st.booleans())
def test_a_reranked_list_is_a_permutation_in_its_order_and_what_is_hidden_stays(given_hits, random, remote):
    top_k, hits = given_hits
    scores = {one.note.id: random.random() for one in hits}
    reranker = Scripted(lambda texts: [scores[text] for text in texts], remote=remote)
    selector = Selector(reranker, Roles(ROLES), Spent(), TIMES)
    wide = selector.widened(query(top_k))
    best = selector.select(wide, hits)
    shown = [text for _, texts in reranker.asked for text in texts]
    assert len(shown) <= TIMES * top_k
    assert len(best) == min(top_k, len(hits))
    assert len({*ids(best)}) == len(best)
    assert {*ids(best)} | {*best.dropped} <= {*ids(hits)}
    assert not {*ids(best)} & {*best.dropped}
    assert [one.score for one in best] == [one.score for one in hits[: len(best)]]
    read = [note for note in ids(best) if note in shown]
    assert read == sorted(shown, key=scores.__getitem__, reverse=True)[: len(read)]
    assert all(ids(best)[at] == one.note.id for at, one in enumerate(hits[:top_k]) if one.note.id not in shown)
    whole = selector.select(selector.widened(query(max(len(hits), 1))), hits)
    assert sorted(ids(whole)) == sorted(ids(hits))


@given(found(), st.data())
def test_a_selection_is_what_was_kept_and_never_more_than_was_asked_for(given_hits, data):
    top_k, hits = given_hits
    shown = [one.note.id for one in hits if not one.note.apart][: min(TIMES * top_k, 100)]
    keep = data.draw(st.permutations(range(1, len(shown) + 1)))[: data.draw(st.integers(0, len(shown)))]
    chat = ScriptedChat([selected(*keep)])
    selector = Selector(None, Roles(ROLES, llm=chat), Spent(), TIMES)
    best = selector.select(selector.widened(query(top_k)), hits)
    stay = [one.note.id for one in hits[:top_k] if one.note.id not in shown]
    kept = [shown[number - 1] for number in keep][: top_k - len(stay)]
    assert len(best) <= top_k
    if chat.calls:
        assert sorted(ids(best)) == sorted([*stay, *kept])
        assert [note for note in ids(best) if note in shown] == kept
        assert {*best.dropped} == {*shown} - {*kept}
    else:  # there was nothing to read
        assert ids(best) == ids(hits)[:top_k] == stay


# ---- the adapters ----------------------------------------------------------------------------


@pytest.fixture
def loopback():
    """A server that speaks Infinity's protocol: the longer a text, the better; rows in reverse order."""
    asked = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, request))
            code = {"busy": 503, "refuse": 400}.get(request["query"], 200)
            texts = request["documents"][1 if request["query"] == "forget" else 0 :]
            rows = [{"index": at, "relevance_score": len(text) / 10} for at, text in enumerate(texts)]
            answer = {"id": "1", "results": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
            body = json.dumps(answer if code == 200 else {"error": {"message": "told to fail"}}).encode()
            if request["query"] == "sleep":
                self.server.closing.wait(30)
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

        def handle(self):
            with suppress(ConnectionError):  # the client did not wait
                super().handle()

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as http:
        http.daemon_threads, http.closing = True, threading.Event()
        threading.Thread(target=http.serve_forever, daemon=True).start()
        try:
            yield http.server_port, asked
        finally:
            http.closing.set()
            forget_clients()
            http.shutdown()


@pytest.mark.filterwarnings("ignore")  # LiteLLM's own
def test_litellm_reranks_and_what_fails_is_our_error(loopback, monkeypatch):
    port, asked = loopback
    monkeypatch.setenv("INFINITY_API_BASE", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("INFINITY_API_KEY", "none")
    reranker = reranker_named(Settings.load(recall={"reranker": "litellm/infinity/tiny"}, llm={"timeout": 1.0}))
    assert (reranker.name, reranker.remote) == ("litellm/infinity/tiny", True)
    texts = ["a", "bbb", "cc"]
    assert reranker.rerank("Who?", texts) == [0.1, 0.3, 0.2]
    assert math.isnan(reranker.rerank("forget", texts)[2])
    for question, error in (("busy", ModelUnavailable), ("refuse", ModelRefused), ("sleep", ModelUnavailable)):
        with pytest.raises(error, match=f"^{reranker.name}: "):
            reranker.rerank(question, texts)
    monkeypatch.setenv("INFINITY_API_BASE", "http://127.0.0.1:1")
    with pytest.raises(ModelUnavailable, match=f"^{reranker.name}: "):
        reranker.rerank("gone", texts)
    path, request = asked[0]
    assert path == "/rerank"
    assert (request["model"], request["query"], request["documents"]) == ("tiny", "Who?", texts)
    assert request["top_n"] == 3
    assert len(asked) == 5  # each once


def cross_encoder(folder, labels):
    """Write a tiny BERT with random weights: no package ships a small cross-encoder."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "i", "like", "no", "cats", "dogs", "."]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(words), num_labels=labels, **sizes)
    BertForSequenceClassification(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    CrossEncoder(str(folder / "bert"), num_labels=labels).save_pretrained(str(folder / "reranker"))
    return named(f"sentence-transformers/{folder / 'reranker'}")


@pytest.mark.sentence_transformers
@pytest.mark.filterwarnings("ignore")
def test_a_cross_encoder_reranks(tmp_path):
    reranker = reranker_named(cross_encoder(tmp_path, 1))
    assert reranker.name == "sentence-transformers/reranker"
    scores = reranker.rerank("who ?", ["i like cats .", "no dogs", "i like cats ."])
    assert scores.shape == (3,)
    assert scores[0] == pytest.approx(scores[2], abs=1e-5)
    assert abs(scores[0] - scores[1]) > 1e-6
    assert not getattr(reranker, "remote", False)


@pytest.mark.sentence_transformers
@pytest.mark.filterwarnings("ignore")
def test_a_cross_encoder_of_several_labels_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="gives 3 numbers to a pair"):
        reranker_named(cross_encoder(tmp_path, 3))
