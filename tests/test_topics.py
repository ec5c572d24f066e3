"""The topics job on the real database: what it finds, what stays, and what happens when it is disturbed."""

import doctest
import json
import threading
import time
from collections import Counter
from contextlib import contextmanager

import pytest
from hypothesis import given, strategies as st
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings
from memgraph_engine.cli import app
from memgraph_engine.errors import InvalidInput, MissingExtra, ModelRefused, NotFound, SettingsError
from memgraph_engine.graph import topics as topic_graph, writes
from memgraph_engine.graph.writes import pairs
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import Topic
from memgraph_engine.testing import ScriptedChat, purge
from memgraph_engine.topics import difference, naming, rebuild
from memgraph_engine.topics.difference import match
from tests.models import memory_with, roles_of

SEA = ["harbour", "anchor", "sail", "lighthouse", "tide", "ferry", "captain", "rope"]
KITCHEN = ["flour", "oven", "butter", "recipe", "yeast", "sugar", "whisk", "dough"]


def plant(memory, user, *themes, seed=0):
    """Write keywords and their pairs straight into the graph: what is tested is the job, not the extraction."""
    memory.add("Hello there, the tide turns at noon.", user_id=user)
    scope = Scope(memory.engine.settings.tenant, user).name
    names = sorted({name for theme in themes for name in theme})
    vectors = memory.engine.embedder.embed_documents(names)

    change = Counter()
    for theme in themes:
        change += pairs(theme)
    with memory.engine.db._session() as session:
        session.run(
            PLANT,
            scope=scope,
            keywords=[{"name": n, "vector": v.tolist()} for n, v in zip(names, vectors, strict=True)],
            pairs=[{"a": a, "b": b, "change": n} for (a, b), n in change.items()],
        ).consume()
    return scope


PLANT = """CYPHER 25
MATCH (s:Scope {scope: $scope})
SET s.version = s.version + 1, s.changed_since = s.changed_since + 1
WITH s
CALL () {
  UNWIND $keywords AS row
  MERGE (k:Keyword {scope: $scope, name: row.name})
  ON CREATE SET k.key = row.name
  WITH k, row
  CALL db.create.setNodeVectorProperty(k, 'embedding', row.vector)
}
CALL () {
  UNWIND $pairs AS row
  MATCH (a:Keyword {scope: $scope, name: row.a})
  MATCH (b:Keyword {scope: $scope, name: row.b})
  MERGE (a)-[r:CO_OCCUR]->(b)
  SET r.weight = coalesce(r.weight, 0) + row.change
}
FINISH"""


def write(memory, scope, what):
    assert writes.commit(
        memory.engine.db, scope, topic_graph.state(memory.engine.db, scope).version, memory.engine.now(), what
    )


def topics_of(memory, user):
    return {frozenset(memory.topic(t.id, user_id=user).keywords): t.id for t in memory.topics(user_id=user)}


@pytest.mark.parametrize("module", [difference, naming])
def test_docstring_examples(module):
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


# ---- matching -----------------------------------------------------------------------------------


def test_an_id_goes_on_with_the_largest_part_and_the_split_is_told():
    found = match(["a"] * 10, [0] * 6 + [1] * 4, ["x", "y"])
    assert found.ids == ("a", "y")
    assert found.splits == {"a": ("a", "y")}
    assert found.merges == {}


def test_a_merge_goes_on_under_the_larger_id():
    found = match(["a"] * 3 + ["b"] * 5, [0] * 8, ["x"])
    assert found.ids == ("b",)
    assert found.merges == {"b": ("b", "a")}


def test_a_few_moves_are_no_split():
    found = match(["a"] * 10 + ["b"] * 10, [0] * 9 + [1] * 11, ["x", "y"])
    assert found.ids == ("a", "b")
    assert found.splits == found.merges == {}


@given(st.lists(st.tuples(st.sampled_from([None, "a", "b", "c"]), st.integers(-1, 4)), max_size=40))
def test_each_id_goes_on_at_most_once(members):
    found = match([old for old, _ in members], [new for _, new in members], ["v", "w", "x", "y", "z"])
    assert len(set(found.ids)) == 5


# ---- the job ------------------------------------------------------------------------------------


def test_two_themes_become_two_topics(memory):
    plant(memory, "ana", SEA, KITCHEN)
    seen = []
    run = memory.rebuild_topics(user_id="ana", progress=seen.append)
    assert seen == list(rebuild.PHASES) == list(run.seconds)
    assert {frozenset(SEA), frozenset(KITCHEN)} <= set(topics_of(memory, "ana"))
    assert run.topics == len(memory.topics(user_id="ana")) == len(run.created)
    assert 3 <= run.smallest <= run.largest <= 100
    assert run.modularity_after > 0.3
    for topic in memory.topics(user_id="ana"):
        assert topic.label == ", ".join(topic.keywords[:3])
    assert memory.topic_runs(user_id="ana")[0].id == run.id


def test_topics_are_tied_by_the_pairs_of_keywords_between_them(memory):
    bridge = ["ferry", "oven"]
    plant(memory, "ana", SEA, KITCHEN, bridge, bridge, ["tide", "sugar"])
    memory.rebuild_topics(user_id="ana")
    found = topics_of(memory, "ana")
    (tie,) = memory.topic_ties(user_id="ana")
    assert {tie.one, tie.other} == {found[frozenset(SEA)], found[frozenset(KITCHEN)]}
    assert (tie.weight, tie.pairs) == (3, 2)
    assert memory.topic_ties(user_id="nobody") == []


def test_topics_come_from_notes(memory):
    memory.add_many(
        [f"We baked sourdough bread with fresh butter and cane sugar, batch {n}." for n in range(4)]
        + [f"The fishing boat left the old harbour at high tide, day {n}." for n in range(4)],
        user_id="ana",
    )
    memory.rebuild_topics(user_id="ana")
    assert memory.topics(user_id="ana")
    assert memory.verify(user_id="ana") == []
    assert memory.stats(user_id="ana").topics == len(memory.topics(user_id="ana"))


def test_a_centroid_is_found_by_a_question(memory):
    scope = plant(memory, "ana", SEA, KITCHEN)
    memory.rebuild_topics(user_id="ana")
    middle = topic_graph.middles(memory.engine.db, scope, dict.fromkeys(SEA, "t"))["t"]
    assert float((middle**2).sum()) == pytest.approx(1)


def test_a_second_run_changes_nothing(memory):
    plant(memory, "ana", SEA, KITCHEN)
    memory.rebuild_topics(user_id="ana")
    before = memory.topics(user_id="ana")
    run = memory.rebuild_topics(user_id="ana")
    assert (run.moved, run.joined, run.created, run.ended) == (0, 0, (), ())
    assert memory.topics(user_id="ana") == before


def test_ids_stay_when_a_little_is_new(memory):
    plant(memory, "ana", SEA, KITCHEN)
    memory.rebuild_topics(user_id="ana")
    before = topics_of(memory, "ana")
    plant(memory, "ana", ["compass", "anchor", "sail"])
    run = memory.rebuild_topics(user_id="ana")
    after = topics_of(memory, "ana")
    assert after[frozenset([*SEA, "compass"])] == before[frozenset(SEA)]
    assert after[frozenset(KITCHEN)] == before[frozenset(KITCHEN)]
    assert (run.moved, run.joined) == (0, 1)


def test_what_has_changed_for_good_is_told(memory):
    scope = plant(memory, "ana", SEA + KITCHEN)
    first = memory.rebuild_topics(user_id="ana")
    whole = topics_of(memory, "ana")[frozenset(SEA + KITCHEN)]
    rows = [{"a": min(a, b), "b": max(a, b), "change": -1} for a in SEA for b in KITCHEN]
    write(memory, scope, {"pair": rows})
    run = memory.rebuild_topics(user_id="ana")
    assert {frozenset(SEA), frozenset(KITCHEN)} <= set(topics_of(memory, "ana"))
    assert whole in run.splits[whole]
    assert len(run.splits[whole]) == 2
    assert run.moved == 8
    assert [move.source for move in run.moves] == [whole] * 8
    assert memory.topic_runs(user_id="ana") == [run, first] or run.id == memory.topic_runs(user_id="ana")[0].id


def test_the_count_of_changes_begins_anew(memory):
    scope = plant(memory, "ana", SEA)
    assert topic_graph.state(memory.engine.db, scope).changed_since > 0
    memory.rebuild_topics(user_id="ana")
    assert topic_graph.state(memory.engine.db, scope).changed_since == 0
    assert memory.rebuild_all_topics() == []
    memory.add("The anchor is rusty.", user_id="ana")
    assert [run.scope for run in memory.rebuild_all_topics()] == [scope]


def test_a_memory_without_keywords_has_no_topics(memory):
    memory.add("Yes, thanks!", user_id="ana")
    run = memory.rebuild_topics(user_id="ana")
    assert (run.topics, run.smallest, run.largest) == (0, 0, 0)
    assert memory.topics(user_id="ana") == []


def test_a_memory_that_is_not_there_is_told(memory):
    with pytest.raises(NotFound):
        memory.rebuild_topics(user_id="nobody")
    assert memory.topics(user_id="nobody") == memory.topic_runs(user_id="nobody") == []


@pytest.mark.parametrize("phase", rebuild.PHASES)
def test_a_run_that_dies_leaves_the_former_topics(memory, phase):
    plant(memory, "ana", SEA, KITCHEN)
    memory.rebuild_topics(user_id="ana")
    before = topics_of(memory, "ana")
    plant(memory, "ana", SEA + KITCHEN)

    def die(at):
        if at == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.rebuild_topics(user_id="ana", progress=die)
    assert topics_of(memory, "ana") == before
    assert len(memory.topic_runs(user_id="ana")) == 1
    assert memory.rebuild_topics(user_id="ana").topics


def test_a_write_that_fails_half_way_leaves_the_former_topics(memory, monkeypatch):
    plant(memory, "ana", SEA, KITCHEN)
    memory.rebuild_topics(user_id="ana")
    before = topics_of(memory, "ana")
    plant(memory, "ana", ["compass", "anchor", "sail"])
    with monkeypatch.context() as patch:
        patch.setattr(topic_graph, "record", lambda tx, run: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.rebuild_topics(user_id="ana")
    assert topics_of(memory, "ana") == before


def test_a_writer_that_came_between_is_seen(memory):
    plant(memory, "ana", SEA, KITCHEN)
    came = []

    def disturb(phase):
        if phase == "write" and not came:
            came.append(plant(memory, "ana", ["compass", "anchor", "sail"]))

    memory.rebuild_topics(user_id="ana", progress=disturb)
    assert frozenset([*SEA, "compass"]) in topics_of(memory, "ana")


def test_writers_that_never_rest_do_not_hold_it_up(memory):
    plant(memory, "ana", SEA, KITCHEN)

    def disturb(phase):
        if phase == "write":
            plant(memory, "ana", ["compass", "anchor"])

    run = memory.rebuild_topics(user_id="ana", progress=disturb)
    assert frozenset(KITCHEN) in topics_of(memory, "ana")
    assert memory.rebuild_all_topics()[0].scope == run.scope  # what came late is known to be left


def test_two_runs_at_once_do_the_work_once(memory):
    plant(memory, "ana", SEA, KITCHEN)
    runs, gate = [], threading.Barrier(2)

    def go():
        gate.wait()
        runs.append(memory.rebuild_topics(user_id="ana"))

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 2
    assert len(topics_of(memory, "ana")) == len(memory.topics(user_id="ana"))
    assert {run.topics for run in runs} == {len(memory.topics(user_id="ana"))}


def test_a_run_that_waited_returns_the_result_of_the_other(memory, monkeypatch):
    plant(memory, "ana", SEA, KITCHEN)
    inside, second = threading.Event(), []

    def hold(phase):
        if phase == "partition":
            inside.set()
            waiting.wait(10)

    waiting = threading.Event()
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: (waiting.set(), sleep(seconds)))
    thread = threading.Thread(target=lambda: second.append(memory.rebuild_topics(user_id="ana", progress=hold)))
    thread.start()
    inside.wait(10)
    mine = memory.rebuild_topics(user_id="ana")
    thread.join()
    assert mine.id == second[0].id


def test_no_scope_leaks(memory, embedder):
    plant(memory, "ana", SEA, KITCHEN)
    plant(memory, "bo", SEA)
    memory.rebuild_topics(user_id="ana")
    assert memory.topics(user_id="bo") == []
    some = memory.topics(user_id="ana")[0]
    with pytest.raises(NotFound):
        memory.topic(some.id, user_id="bo")
    with Memory.connect(tenant=memory.engine.settings.tenant + "/", embedder=embedder) as other:
        assert other.rebuild_all_topics() == []
        assert other.topics(user_id="ana") == []


def test_a_purge_removes_runs_and_topics(memory):
    plant(memory, "ana", SEA)
    memory.rebuild_topics(user_id="ana")
    purge(memory.engine.settings.tenant)
    assert memory.topics(user_id="ana") == memory.topic_runs(user_id="ana") == []


def test_engines_that_can_not_be_used_are_refused(memory, monkeypatch):
    plant(memory, "ana", SEA)
    monkeypatch.setitem(__import__("sys").modules, "igraph", None)
    with pytest.raises(MissingExtra, match="GPL"):
        memory.rebuild_topics(user_id="ana", engine="igraph")
    with pytest.raises(SettingsError, match="louvain"):
        memory.rebuild_topics(user_id="ana", engine="louvain")
    for other in (5, b"igraph"):
        with pytest.raises(InvalidInput, match="partition"):
            memory.rebuild_topics(user_id="ana", engine=other)
    with pytest.raises(InvalidInput):
        memory.topic_runs(user_id="ana", limit=0)


# ---- the command line ---------------------------------------------------------------------------


def test_the_commands(memory, embedder, monkeypatch):
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    tenant = memory.engine.settings.tenant
    plant(memory, "ana", SEA, KITCHEN)

    def call(*words):
        result = CliRunner().invoke(app, ["topics", *words, "--tenant", tenant])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "never" in call("diff", "-u", "ana")
    assert "There are no topics" in call("list", "-u", "ana")
    assert json.loads(call("rebuild", "-u", "ana", "--json"))["topics"] >= 2
    listed = json.loads(call("list", "-u", "ana", "--json"))
    assert json.loads(call("show", listed[0]["id"], "-u", "ana", "--json"))["size"] == listed[0]["size"]
    assert listed[0]["label"] in call("show", listed[0]["id"], "-u", "ana")
    assert listed[0]["id"] in call("list", "-u", "ana")
    assert "0 moved" in call("diff", "-u", "ana")
    assert "No memory has changed" in call("rebuild", "--all")
    assert CliRunner().invoke(app, ["topics", "rebuild", "--all", "-u", "ana"]).exit_code == 2
    assert CliRunner().invoke(app, ["topics", "show", "x", "-u", "ana", "--tenant", tenant]).exit_code == 1


# ---- between runs -------------------------------------------------------------------------------


def write_pairs(memory, scope, *themes):
    """As `plant`, and as a write does, with the keywords that join topics."""
    plant(memory, scope.partition("/")[2], *themes)
    names = {name for theme in themes for name in theme}
    memory.engine.db.write(lambda tx: topic_graph.join_best(tx, scope, names))


def faults(memory):
    """What verify finds, but that no notes carry the planted keywords and pairs."""
    return [fault for fault in memory.verify(user_id="ana") if not fault.startswith(("CO_OCCUR", "Keyword"))]


def topic_with(memory, keyword):
    """The topic of a keyword, by name, as a set of its keywords; None if it has none."""
    return next((set(t) for t in topics_of(memory, "ana") if keyword in t), None)


def test_a_new_keyword_joins_the_topic_that_it_occurs_with_most(memory):
    scope = plant(memory, "ana", SEA, KITCHEN)
    memory.rebuild_topics(user_id="ana")
    write_pairs(memory, scope, ["compass", "anchor", "sail"], ["compass", "oven"])
    assert topic_with(memory, "compass") == {*SEA, "compass"}
    sizes = {topic.id: topic.size for topic in memory.topics(user_id="ana")}
    assert sizes == {t: len(keywords) for keywords, t in topics_of(memory, "ana").items()}
    run = memory.rebuild_topics(user_id="ana")
    assert (run.moved, run.joined, run.created) == (0, 0, ())
    assert topic_with(memory, "compass") == {*SEA, "compass"}


def test_a_keyword_that_occurs_with_no_topic_joins_none(memory):
    scope = plant(memory, "ana", SEA)
    memory.rebuild_topics(user_id="ana")
    write_pairs(memory, scope, ["compass", "needle"])
    assert topic_with(memory, "compass") is None


def test_keywords_join_before_any_run_nothing(memory):
    scope = plant(memory, "ana", SEA)
    write_pairs(memory, scope, ["compass", "anchor"])
    assert memory.topics(user_id="ana") == []


def test_a_topic_that_is_full_takes_no_more_keywords(tenant, embedder):
    settings = Settings.load(tenant=tenant, topics={"max_size": 10})
    with Memory.connect(embedder=embedder, settings=settings) as memory:
        scope = plant(memory, "ana", SEA)
        memory.rebuild_topics(user_id="ana")
        new = ["buoy", "compass", "deck", "eel"]
        write_pairs(memory, scope, *([name, *SEA[:n]] for n, name in enumerate(new, 2)))
        assert topic_with(memory, "anchor") == {*SEA, "deck", "eel"}  # those that occur with it most
        write_pairs(memory, scope, ["fender", *SEA])
        assert topic_with(memory, "fender") is None
        assert faults(memory) == []


def test_a_written_note_brings_its_keywords_and_takes_them_along(memory):
    memory.add_many([f"The fishing boat left the old harbour at high tide, day {n}." for n in range(4)], user_id="ana")
    memory.rebuild_topics(user_id="ana")
    before = memory.topics(user_id="ana")
    entry = memory.add("The fishing boat met a submarine.", user_id="ana").entries[0]
    new = set(memory.get(entry.note, user_id="ana").keywords) - {k for t in before for k in t.keywords}
    joined = [topic_with(memory, name) for name in new]
    assert new
    assert all(topic and topic > set(before[0].keywords) for topic in joined)
    assert memory.topics(user_id="ana")[0].size == before[0].size + len(new)
    assert memory.verify(user_id="ana") == []
    memory.undo(entry.decision, user_id="ana")
    assert memory.topics(user_id="ana") == before
    assert memory.verify(user_id="ana") == []


def test_a_keyword_that_joined_during_the_last_attempt_is_in_one_topic(tenant, embedder):
    settings = Settings.load(tenant=tenant, topics={"max_size": 10})
    with Memory.connect(embedder=embedder, settings=settings) as memory:
        scope = plant(memory, "ana", SEA, KITCHEN)
        memory.rebuild_topics(user_id="ana")
        came = iter(["buoy", "compass", "deck", "eel", "fender", "gull"])

        def disturb(phase):
            if phase in ("compare", "write"):
                write_pairs(memory, scope, [next(came), "anchor", "sail"])

        run = memory.rebuild_topics(user_id="ana", progress=disturb)
        assert run.id == memory.topic_runs(user_id="ana")[0].id
        assert faults(memory) == []
        assert len(topic_with(memory, "anchor")) <= 10


# ---- labels of a chat model -----------------------------------------------------------------------


def named(*labels):
    """The labeller's answer."""
    return {"topics": [{"topic": at, "label": label} for at, label in enumerate(labels, 1)]}


@contextmanager
def labelling(tenant, embedder, *answers, **llm):
    with memory_with(tenant, embedder, answers, only=["labelling"], llm=llm) as (memory, chat):
        plant(memory, "ana", SEA, KITCHEN)
        yield memory, chat


def labels_of(memory):
    return {topic.label: topic.labelled_by for topic in memory.topics(user_id="ana") if len(topic.keywords) > 3}


LOCAL = ("anchor, captain, ferry", "butter, dough, flour")


def test_the_labels_of_a_model_stay_while_the_topics_are_about_the_same(tenant, embedder):
    with labelling(tenant, embedder, named("One", "Two")) as (memory, chat):
        run = memory.rebuild_topics(user_id="ana")
        assert (run.labelled, run.fallbacks, run.cost.calls) == (2, (), 1)
        assert labels_of(memory) == {"One": "scripted", "Two": "scripted"}
        assert all(name in chat.calls[0].text for name in ("harbour", "dough"))
        plant(memory, "ana", ["compass", "anchor", "sail"])
        assert memory.rebuild_topics(user_id="ana").labelled == 0
        assert labels_of(memory) == {"One": "scripted", "Two": "scripted"}
        assert memory.cost(user_id="ana")[0].cost.calls == 1
        assert memory.topic_runs(user_id="ana")[1].cost == run.cost


def test_a_topic_that_is_about_something_else_gets_another_label(tenant, embedder):
    with labelling(tenant, embedder, named("One", "Two"), named("Three")) as (memory, _):
        memory.rebuild_topics(user_id="ana")
        far = [f"star{n}" for n in range(12)]
        for _ in range(3):
            plant(memory, "ana", [*far, "anchor", "sail"])
        memory.rebuild_topics(user_id="ana")
        assert "Three" in labels_of(memory)


NONSENSE = [
    "No idea.",
    named("Only one"),
    named("…", "!"),
    named("Sea", "x" * 61),
    named("Sea\nand more", "Kitchen"),
    {"topics": [{"topic": 7, "label": "Sea"}]},
]


def test_a_label_of_a_model_is_taken_with_its_name():
    labeller, told = labelled(named("Sea", "Kitchen"))
    assert [(one.label, one.labelled_by) for one in told] == [("Sea", "scripted"), ("Kitchen", "scripted")]
    assert (labeller.spent.cost.calls, labeller.spent.fallbacks) == (1, ())


@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_leaves_the_local_labels_and_is_told(answer):
    labeller, told = labelled(answer, answer)
    assert [(one.label, one.labelled_by) for one in told] == [("anchor, sail", ""), ("butter, dough", "")]
    assert labeller.spent.cost.calls == 2
    (why,) = labeller.spent.fallbacks
    assert why.startswith("Labelling was done without a model: ")


def labelled(*answers):
    """Have two topics labelled by a model that gives these answers: who asked it, and the topics."""
    labeller = naming.Labeller(roles_of(ScriptedChat(answers), ["labelling"]), Spent())
    topics = [Topic("1", "anchor, sail", 2, ("anchor", "sail")), Topic("2", "butter, dough", 2, ("butter", "dough"))]
    return labeller, labeller.labelled(topics)


def test_labels_of_the_notes_are_stored_where_a_model_talks_nonsense(tenant, embedder):
    with labelling(tenant, embedder, NONSENSE[0], NONSENSE[2]) as (memory, chat):
        run = memory.rebuild_topics(user_id="ana")
        assert labels_of(memory) == dict.fromkeys(LOCAL, "")
        assert (run.labelled, run.cost.calls, chat.left) == (0, 2, 0)
        assert run.fallbacks[0].startswith("Labelling was done without a model: ")


def test_a_model_that_failed_is_asked_again_by_the_next_run(tenant, embedder):
    with labelling(tenant, embedder, ModelRefused("I tell nobody of the sea."), named("One", "Two")) as (memory, _):
        run = memory.rebuild_topics(user_id="ana")
        assert run.fallbacks == ("Labelling was done without a model: I tell nobody of the sea.",)
        (kept,) = memory.topic_runs(user_id="ana")  # what is stored has no word of the model
        assert kept.fallbacks == ("Labelling was done without a model: scripted refused the request.",)
        assert labels_of(memory) == dict.fromkeys(LOCAL, "")
        assert memory.rebuild_topics(user_id="ana").labelled == 2
        assert labels_of(memory) == {"One": "scripted", "Two": "scripted"}


def test_no_model_is_asked_beyond_the_budget(tenant, embedder):
    with labelling(tenant, embedder, named("One"), batch_tokens=1, call_budget={"calls": 1}, concurrency=1) as (m, _):
        run = m.rebuild_topics(user_id="ana")
        assert run.labelled == 1
        assert "budget" in run.fallbacks[0]
        assert sorted(labels_of(m).values()) == ["", "scripted"]


def test_a_run_that_is_overtaken_asks_no_model_twice(tenant, embedder):
    with labelling(tenant, embedder, named("One", "Two")) as (memory, _):
        came = []

        def disturb(phase):
            if phase == "write" and not came:
                came.append(plant(memory, "ana", ["mast", "keel"]))

        assert memory.rebuild_topics(user_id="ana", progress=disturb).labelled == 2


def test_without_the_role_the_keywords_are_the_label(tenant, embedder):
    with memory_with(tenant, embedder, only=[]) as (memory, _):
        plant(memory, "ana", SEA)
        assert memory.rebuild_topics(user_id="ana").cost.calls == 0
        assert labels_of(memory) == {LOCAL[0]: ""}
