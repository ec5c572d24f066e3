"""How a question is read before it is asked: the time that it names, and what a planner finds in it."""

import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.engine.wiring import ungated
from memgraph_engine.errors import ModelUnavailable
from memgraph_engine.recall.search import shared_out
from memgraph_engine.testing import ScriptedChat
from tests.models import memory_with

NOW = datetime(2023, 9, 20, 15, tzinfo=UTC)
MONTHS = range(1, 10)
QUESTION = "What did I bake {}?"


def planned(topic="", keywords=(), since=None, until=None, question=1, queries=()):
    entry = {"question": question, "topic": topic, "keywords": list(keywords), "since": since, "until": until}
    return json.dumps({"questions": [{**entry, "queries": list(queries)}]})


def baked(month, what="bread"):
    return {"id": f"{what}-{month}", "text": f"I did bake a {what} in the old oven.", "time": f"2023-{month:02}-15"}


def ids(hits):
    return [hit.sources[0].id for hit in hits]


def plan_of(hits):
    return hits[0].explanation.rounds[0].plan


def without_time(memory):
    recall = memory.engine.settings.recall.switched(time=False)
    return Memory(replace(memory.engine, settings=memory.engine.settings.model_copy(update={"recall": recall})))


@pytest.fixture
def recall():
    return {}


@pytest.fixture
def memory(tenant, embedder, recall):
    settings = Settings.load(gate={"update": False}, recall=recall)
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings, clock=lambda: NOW) as one:
        yield one


@pytest.fixture(scope="module")
def bakery(kept):
    """The same said each month, so that nothing but the time tells the notes apart."""

    def bake(memory):
        Memory(ungated(memory.engine)).add_many([baked(month) for month in MONTHS], user_id="ana")

    return Memory(replace(kept(bake).engine, clock=lambda: NOW))


@pytest.mark.parametrize(
    ("when", "best"),
    [
        ("in May 2023", 5),
        ("on 15 March 2023", 3),
        ("last month", 8),
        ("two months ago", 7),
        ("last week", 9),
    ],
)
def test_what_was_told_in_the_time_that_a_question_names_comes_forward(bakery, when, best):
    hits = bakery.search(QUESTION.format(when), user_id="ana", explain=True)
    assert len(hits) == len(MONTHS)  # a time narrows nothing down
    time = {hit.sources[0].id: hit.explanation.channels["time"] for hit in hits}
    assert {note for note, score in time.items() if score.raw == 1.0} == {f"bread-{best}"}
    assert time[f"bread-{best}"].weighted > 0.05
    before = ids(without_time(bakery).search(QUESTION.format(when), user_id="ana"))
    now, then = (found.index(f"bread-{best}") for found in (ids(hits), before))
    assert now < then or now == 0
    (start, end), *_ = plan_of(hits).times
    assert start < end


def test_what_is_told_later_of_that_time_counts_as_much(memory):
    later = {"id": "later", "text": "Last month I did bake a bread in the old oven.", "time": "2023-06-20"}
    memory.add_many([*map(baked, (3, 4, 6, 7)), later], user_id="ana")
    hits = memory.search(QUESTION.format("in May 2023"), user_id="ana", explain=True)
    time = {hit.sources[0].id: hit.explanation.channels["time"].raw for hit in hits}
    assert time["later"] == 1.0
    assert 0 < time["bread-6"] < 1  # two weeks after it
    assert time["bread-3"] == 0


def test_a_look_back_takes_relative_times_from_its_own_day(bakery):
    hits = bakery.search(QUESTION.format("last month"), user_id="ana", as_of="2023-06-20", explain=True)
    time = {hit.sources[0].id: hit.explanation.channels["time"].raw for hit in hits}
    assert max(time, key=time.get) == "bread-5"
    assert plan_of(hits).times == ((datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)),)


def test_without_a_time_there_is_no_such_channel(bakery):
    hits = bakery.search("What did I bake?", user_id="ana", explain=True)
    assert {hit.explanation.channels["time"] for hit in hits} == {replace(hits[0].explanation.channels["time"])}
    assert hits[0].explanation.channels["time"].weighted == 0
    assert plan_of(hits).times == ()


def test_it_can_be_left_out(bakery):
    hits = without_time(bakery).search(QUESTION.format("in May 2023"), user_id="ana", explain=True)
    assert all(hit.explanation.channels["time"].weighted == 0 for hit in hits)
    assert all("time" not in hit.explanation.proposed_by for hit in hits)


@pytest.mark.parametrize("recall", [{"pool": 2, "lexical_pool": 2}])
def test_the_time_proposes_what_no_other_channel_reaches(memory):
    memory.add_many([baked(9, f"bread of sort {n}") for n in range(8)], user_id="ana")
    memory.add({"id": "old", "text": "There was a cake.", "time": "2023-02-11"}, user_id="ana")
    memory.add({"id": "other", "text": "There was a cake.", "time": "2023-02-12"}, user_id="ben")
    asked = QUESTION.format("on 11 February 2023")
    hits = memory.search(asked, user_id="ana", explain=True)
    (old,) = (hit for hit in hits if hit.sources[0].id == "old")
    assert "time" in old.explanation.proposed_by
    assert "other" not in ids(hits)
    for narrowed in ({"since": "2023-03-01"}, {"session": "none"}, {"tags": ["none"]}, {"as_of": "2023-01-01"}):
        assert "old" not in ids(memory.search(asked, user_id="ana", **narrowed)), narrowed


def test_a_question_in_spanish_names_its_time_in_spanish(tenant, embedder):
    settings = Settings.load(language="spanish", gate={"update": False})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings) as memory:
        memory.add_many([baked(month, "pan") for month in MONTHS], user_id="ana")
    # whoever reads it need not know the language
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        hits = memory.search("¿Qué horneé en mayo de 2023?", user_id="ana", rounds=2, explain=True)
    assert ids(hits)[0] == "pan-5"
    assert {one.plan.times for one in hits[0].explanation.rounds} == {
        ((datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)),)
    }


def test_a_day_is_one_of_the_zone_in_the_settings(tenant, embedder):
    settings = Settings.load(timezone="Asia/Tokyo")
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings, clock=lambda: NOW) as memory:
        memory.add(baked(9), user_id="ana")
        hits = memory.search("What was today?", user_id="ana", explain=True)
    ((start, end),) = plan_of(hits).times  # in Tokyo it is the 21st by then
    assert (start, end) == (datetime(2023, 9, 20, 15, tzinfo=UTC), datetime(2023, 9, 21, 15, tzinfo=UTC))


@pytest.mark.parametrize("as_of", ["0001-01-01", "9999-12-31"])
def test_the_ends_of_time_are_no_trouble(bakery, as_of):
    assert isinstance(bakery.search("What was yesterday, and in 9999?", user_id="ana", as_of=as_of), list)


def test_a_planner_says_what_to_look_for(tenant, embedder):
    chat = ScriptedChat([planned("An animal of the sea", ["Otters", "aquarium"], "2023-05-01", "2023-05-31")])
    with memory_with(tenant, embedder, chat, only=["planning"]) as (memory, _):
        memory.add_many(["Otters live at the aquarium.", "I painted the fence.", "It rains."], user_id="ana")
        hits = memory.search("Who is fed there?", user_id="ana", rounds=2, explain=True)
        spent = memory.cost(user_id="ana")
    plan = plan_of(hits)
    assert (plan.topic, plan.keywords, plan.model) == ("An animal of the sea", ("Otters", "aquarium"), chat.name)
    assert plan.times == ((datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)),)
    led = {hit.note.context: hit.explanation.channels["keywords"].raw for hit in hits}
    assert led["Otters live at the aquarium."] == max(led.values()) > 0  # the question names neither
    assert "Who is fed there?" in chat.calls[0].text
    assert sum(day.cost.calls for day in spent) == 1


def two_animals(memory):
    memory.add_many(
        [
            *({"text": f"The mast of boat {n} is tall.", "id": f"boat{n}"} for n in range(30)),
            {"text": "Otters are fed with sardines.", "id": "otters", "speaker": "Ana"},
            {"text": "The heron sleeps on the roof.", "id": "heron", "speaker": "Bo"},
        ],
        user_id="ana",
    )


def found(hits):
    return [source.id for hit in hits for source in hit.sources]


def test_the_queries_of_a_plan_are_looked_for_beside_the_question_in_the_same_statement(tenant, embedder):
    queries = ["What do otters eat?", "Where does the heron sleep?", "What do otters eat?"]
    with memory_with(tenant, embedder, ScriptedChat([planned(queries=queries)]), only=["planning"]) as (memory, _):
        two_animals(memory)
        question = "Which boat has a mast?"
        hits = memory.search(question, user_id="ana", rounds=2, top_k=20, explain=True)
        assert {"otters", "heron"} <= {*found(hits)}
        assert plan_of(hits).queries == ("What do otters eat?", "Where does the heron sleep?")
        assert not {"otters", "heron"} & {*found(memory.search(question, user_id="ana", top_k=20))}


@pytest.mark.parametrize(("queries", "first"), [([], 8), (["What do otters eat?", "Where does the heron sleep?"], 4)])
def test_what_a_second_stage_reads_is_shared_out_among_the_queries_and_the_question_is_none(
    tenant, embedder, queries, first
):
    recall = {"split": True, "ranking": "cosine", "channels": ["dense_context"], "sufficient": 0.0, "pool": 150}
    chat, read = ScriptedChat([planned(queries=queries)]), []
    with memory_with(tenant, embedder, chat, only=["planning"], recall=recall) as (memory, _):
        two_animals(memory)
        engine = memory.engine

        class Reads:
            name = "reads"

            def rerank(self, query, texts):
                read.extend(texts)
                return [0.0] * len(texts)

        both = Memory(replace(engine, reranker=Reads()))
        both.search("Which boat has a mast?", user_id="ana", rounds=2, top_k=4)
    assert len(read) == 8  # twice as many as are asked for, whatever the pool
    assert sum(text.startswith("The mast") for text in read) == (8 if not queries else 6)
    assert {"otters" in " ".join(read).casefold(), "heron" in " ".join(read)} == {bool(queries)}


def test_notes_that_two_queries_share_leave_room_for_others():
    near = np.array([[0.9, 0.8, 0.7, 0.1, 0.0], [0.9, 0.1, 0.2, 0.8, 0.7]])
    assert shared_out(near, 4) == [0, 1, 2, 3]
    assert shared_out(near, 9) == [0, 1, 2, 3, 4]
    assert shared_out(near[:1], 2) == [0, 1]


@pytest.mark.parametrize("narrowed", [{}, {"until": "9000-01-01"}])
def test_a_query_finds_by_its_meaning_alone(tenant, embedder, narrowed):
    chat = ScriptedChat([planned(queries=["What do animals of the sea get for a meal?"])])
    with memory_with(tenant, embedder, chat, only=["planning"]) as (memory, _):
        two_animals(memory)
        question = "Which boat has a mast?"
        hits = memory.search(question, user_id="ana", rounds=2, top_k=20, explain=True, **narrowed)
        (otters,) = (hit for hit in hits if found([hit]) == ["otters"])
        assert otters.explanation.proposed_by == ("dense_context",)
        alone = memory.search(question, user_id="ana", top_k=20, explain=True, **narrowed)
        assert "otters" not in found(alone)


def test_filters_hold_for_the_queries_of_a_plan(tenant, embedder):
    chat = ScriptedChat([planned(queries=["What do otters eat?", "Where does the heron sleep?"])] * 3)
    with memory_with(tenant, embedder, chat, only=["planning"]) as (memory, _):
        two_animals(memory)
        for narrowed in ({"speaker": "Bo"}, {"as_of": "9998-01-01", "speaker": "Bo"}):
            hits = memory.search("Which animals?", user_id="ana", rounds=2, **narrowed)
            assert found(hits) == ["heron"]
        memory.delete("heron", user_id="ana")
        assert "heron" not in found(memory.search("Which animals?", user_id="ana", rounds=2, top_k=100))


def test_a_query_that_names_another_user_leads_to_nothing_of_his(tenant, embedder):
    chat = ScriptedChat([planned(queries=["What do the otters of ben eat?", f"MATCH tenant {tenant} user ben otters"])])
    with memory_with(tenant, embedder, chat, only=["planning"]) as (memory, _):
        memory.add("Otters live at the aquarium.", user_id="ben")
        memory.add("I painted the fence.", user_id="ana")
        hits = memory.search("Who lives there?", user_id="ana", rounds=2)
    assert [hit.note.context for hit in hits] == ["I painted the fence."]


def test_a_planner_is_shown_the_turns_before_and_none_that_no_model_may_see(tenant, embedder):
    chat = ScriptedChat([planned()])
    with memory_with(tenant, embedder, chat, only=["planning"]) as (memory, _):
        memory.add("Otters live at the aquarium.", user_id="ana")
        history = [
            {"role": "user", "content": "I saw the zebra."},
            {"role": "user", "content": "My code is 7788.", "policy": "private"},
        ]
        memory.context("Who lives at the aquarium?", user_id="ana", history=history)
    assert "I saw the zebra." in chat.calls[0].text
    assert "7788" not in chat.calls[0].text


def test_one_round_asks_no_planner(tenant, embedder):
    with memory_with(tenant, embedder, ScriptedChat([]), only=["planning"]) as (memory, _):
        memory.add("Otters live at the aquarium.", user_id="ana")
        assert memory.search("Who lives there?", user_id="ana")


def test_no_planner_is_asked_about_a_memory_that_was_never_written(tenant, embedder):
    with memory_with(tenant, embedder, ScriptedChat([]), only=["planning"]) as (memory, _):
        for whose in ({"user_id": "ana"}, {"shared": True}):
            assert memory.search("Who lives there?", rounds=2, **whose) == []
            assert memory.context("Who lives there?", **whose).entries == ()
            assert memory.answer("Who lives there?", **whose).text is None


def test_the_shared_memory_pays_for_whoever_has_none(tenant, embedder):
    with memory_with(tenant, embedder, ScriptedChat([planned("otters")]), only=["planning"]) as (memory, _):
        memory.add("Otters live at the aquarium.", shared=True)
        assert memory.search("Who lives there?", user_id="ana", rounds=2)
        assert sum(day.cost.calls for day in memory.cost(shared=True)) == 1


@pytest.mark.parametrize(
    "nonsense",
    [
        "I am a planner.",
        planned(question=7),
        planned(topic="x" * 501),
        planned(topic="a\0b"),
        planned(keywords=["x" * 101]),
        planned(since="2023-05-31", until="2023-05-01"),
        planned(since="soon"),
        planned(queries=[f"Who is animal {n}?" for n in range(10)]),
        planned(queries=["Who\nlives there?"]),
        ModelUnavailable("gone"),
    ],
)
def test_a_planner_that_answers_nonsense_is_done_without_and_the_context_says_so(tenant, embedder, nonsense):
    answers = [nonsense] * (1 if isinstance(nonsense, Exception) else 2)
    with memory_with(tenant, embedder, ScriptedChat(answers), only=["planning"]) as (memory, chat):
        memory.add("Otters live at the aquarium.", user_id="ana")
        context = memory.context("Who lives at the aquarium in May 2023?", user_id="ana")
        assert context.entries
        (why,) = context.fallbacks
        assert why.startswith("Reading the question was done without a model")
        assert chat.left == 0


@pytest.mark.parametrize(
    ("given", "times"),
    [
        ({"since": "2023-05-01"}, (datetime(2023, 5, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))),
        ({"until": "9999-12-31"}, (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))),
    ],
)
def test_a_plan_may_be_open_at_one_end(tenant, embedder, given, times):
    with memory_with(tenant, embedder, ScriptedChat([planned(**given)]), only=["planning"]) as (memory, _):
        memory.add("Otters live at the aquarium.", user_id="ana")
        hits = memory.search("Who lives there?", user_id="ana", rounds=2, explain=True)
    assert plan_of(hits).times == (times,)


def test_a_plan_of_a_question_leads_to_no_other_memory(tenant, embedder):
    with memory_with(
        tenant, embedder, ScriptedChat([planned("otters", ["otters"], "2000-01-01")]), only=["planning"]
    ) as (
        memory,
        _,
    ):
        memory.add("Otters live at the aquarium.", user_id="ben")
        memory.add("I painted the fence.", user_id="ana")
        hits = memory.search("Who lives there?", user_id="ana", rounds=2)
    assert [hit.note.context for hit in hits] == ["I painted the fence."]


# ---- what a question is about (recall.intent) -----------------------------------------------------

BOATS = {"recall": {"intent": True, "sufficient": 0.0}}


def meant(classes=(), kind=None):
    (entry,) = json.loads(planned())["questions"]
    return json.dumps({"questions": [{**entry, "classes": list(classes), "kind": kind}]})


@contextmanager
def boats(tenant, embedder, *answers, **given):
    """Boats of a class of their own each, one from a document, and one that is found only if it is asked for."""
    with memory_with(tenant, embedder, ScriptedChat(answers), only=["planning"], **{**BOATS, **given}) as (
        memory,
        chat,
    ):
        told = {"rule": "canonical", "mast": "factual", "code": "private"}
        memory.add_many(
            [{"id": id, "text": f"The boat has a {id}.", "policy": policy} for id, policy in told.items()],
            user_id="ana",
        )
        memory.add({"id": "manual", "text": "The boat has an oar.", "kind": "document"}, user_id="ana")
        yield memory, chat


def asked(memory, question="What has the boat?", **given):
    return memory.search(question, user_id="ana", rounds=2, explain=True, **given)


@pytest.mark.parametrize(
    ("answer", "ids", "plan"),
    [
        (meant(["canonical"]), {"rule"}, (("canonical",), "", False)),
        (meant([], "document"), {"manual"}, ((), "document", False)),
        (meant(), {"rule", "mast", "manual"}, ((), "", False)),
        (meant(["ephemeral"]), {"rule", "mast", "manual"}, (("ephemeral",), "", True)),
        (meant(["canonical"], "code"), {"rule", "mast", "manual"}, (("canonical",), "code", True)),
        (meant(["private", "boats"]), {"rule", "mast", "manual"}, ((), "", False)),
    ],
)
def test_a_planner_says_which_notes_a_question_is_about_unless_there_are_none(tenant, embedder, answer, ids, plan):
    with boats(tenant, embedder, answer) as (memory, chat):
        hits = asked(memory)
        assert {*found(hits)} == ids
        told = plan_of(hits)
        assert (told.policies, told.kind, told.dropped) == plan
        assert (hits.plan.policies, hits.plan.dropped) == (told.policies, told.dropped)
    assert '{"class": "canonical"' in chat.calls[0].text
    assert '"class": "private"' not in chat.calls[0].text


@pytest.mark.parametrize(
    ("own", "ids"),
    [
        ({"policy": ["factual"]}, {"mast", "manual"}),
        ({"not_policy": ["factual"]}, {"rule"}),
        ({"kind": "message"}, {"rule", "mast"}),
        ({"include": ["private"]}, {"rule", "mast", "manual", "code"}),
    ],
)
def test_what_is_asked_for_stands_above_what_a_planner_says(tenant, embedder, own, ids):
    with boats(tenant, embedder, meant(["canonical"])) as (memory, _):
        assert {*found(asked(memory, **own))} == ids


def test_by_default_no_planner_is_asked_what_a_question_is_about(tenant, embedder):
    with boats(tenant, embedder, planned(), recall={}) as (memory, chat):
        assert {*found(asked(memory))} == {"rule", "mast", "manual"}
    assert "canonical" not in chat.calls[0].text


def test_without_a_model_rules_of_a_pattern_alone_say_it(tenant, embedder, tmp_path):
    file = tmp_path / "policies.yaml"
    file.write_text(
        "default: factual\n"
        "classes: {factual: {}, canonical: {}, ephemeral: {}, private: {models: false, shown: asked}}\n"
        "rules:\n  - {when: {pattern: '(?i)rule'}, class: canonical}\n"
        "  - {when: {pattern: '(?i)code'}, class: private}\n  - {when: {says: request}, class: ephemeral}\n",
        "utf-8",
    )
    settings = Settings.load(tenant=tenant, lifecycle={"policies": str(file)}, **BOATS)
    with Memory.connect(embedder=embedder, settings=settings) as memory:
        told = {"a": "The rule is that boats sail.", "b": "A boat sails.", "c": "The code of the boat is 4711."}
        memory.add_many([{"id": id, "text": text} for id, text in told.items()], user_id="ana")
        assert found(asked(memory, "Which rule is there on boats?")) == ["a"]
        assert {*found(asked(memory, "Which boat sails?"))} == {"a", "b"}
        assert {*found(asked(memory, "What is the code?"))} == {
            "a",
            "b",
        }  # what is shown only if asked for stays hidden
        assert plan_of(asked(memory, "Which rule is there?")).policies == ("canonical",)
