"""What use makes of a note's life: it ends with its last use, goes on where it proves useful, or is archived unused."""

from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine import Settings
from memgraph_engine.model.memory import NEVER
from memgraph_engine.testing import ScriptedChat
from memgraph_engine.worker.work import Worker
from tests.models import memory_with
from tests.snapshots import same, snapshot
from tests.test_use import ANA, HERON, TIDE, connected, counted, note  # noqa: F401  fixtures

BEGIN = datetime(2024, 5, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
CLASSES = """
default: plain
classes:
  plain: {ttl: none}
  once: {ttl: 7d, uses: 1}
  twice: {ttl: none, uses: 2, at_end: erase}
  worthy: {ttl: 10d, archive: 5d, start: 50, extend: {above: 65, by: 30d}}
  kept: {ttl: none, prune: false}
"""
ASKED = "What does the heron eat?"


@pytest.fixture
def memory(connected, tmp_path):  # noqa: F811
    path = tmp_path / "policies.yaml"
    path.write_text(CLASSES)
    return connected("auto", lifecycle={"policies": str(path)}, use={"record": "auto", "prune": True})


def reflect(memory, *shown, answer="It eats fish.", **of):
    return memory.reflect(ASKED, list(shown), answer, **(of or ANA))


def found(memory):
    return [hit.note.id for hit in memory.search(ASKED, **ANA)]


def test_what_an_answer_contradicts_is_tagged_for_review_where_the_settings_say_so(connected):  # noqa: F811
    memory, text = connected(use={"record": "on", "flag": True}), "Water the tomatoes every 7 days."
    water = note(memory.add({"text": text, "tags": ["garden"]}, **ANA))
    asked = "How often do I water the tomatoes?", [water], "Water the tomatoes every 9 days."
    assert [one.outcome for one in connected(use={"record": "on"}).reflect(*asked, **ANA).notes] == ["contradicted"]
    assert memory.get(water, **ANA).tags == ("garden",)  # by default it is not
    before = snapshot(memory)
    (flagged,) = memory.reflect(*asked, **ANA).decisions
    assert [one.id for one in memory.get_all(tags=["contradicted"], **ANA)] == [water]
    assert flagged in memory.explain(water, **ANA).decisions
    assert memory.reflect(*asked, **ANA).decisions == ()
    memory.undo(flagged.id, **ANA)
    same(snapshot(memory), before)
    assert memory.verify(**ANA) == []


# ---- uses ---------------------------------------------------------------------------------------


def test_a_note_for_one_use_ends_with_it(memory):
    code, tide = note(memory.add(HERON, policy="once", **ANA)), note(memory.add(TIDE, policy="once", **ANA))
    told = reflect(memory, code, tide)
    assert [(one.kind, one.note, one.evidence) for one in told.decisions] == [
        ("expire", code, "It was used as often as its policy allows.")
    ]
    assert found(memory) == [tide]
    assert memory.sweep(**ANA).notes == 1


def test_what_was_only_shown_does_not_end(memory):
    code = note(memory.add(HERON, policy="once", **ANA))
    memory.context(ASKED, **ANA)
    assert reflect(memory, code, answer="Nothing.").decisions == ()
    assert found(memory) == [code]


def test_an_undo_brings_back_what_ended_and_its_next_use_ends_it_again(memory):
    code = note(memory.add(HERON, policy="once", **ANA))
    (ended,) = reflect(memory, code).decisions
    memory.undo(ended.id, **ANA)
    assert memory.get(code, **ANA).expires_at == BEGIN + 7 * DAY
    assert len(reflect(memory, code).decisions) == 1
    assert found(memory) == []


def test_what_erases_at_its_end_is_erased_after_its_last_use(memory):
    code = note(memory.add(HERON, policy="twice", **ANA))
    assert reflect(memory, code).decisions == ()
    assert len(reflect(memory, code).decisions) == 1
    assert [one.counts["notes"] for one in memory.sweep(**ANA).erased] == [1]
    assert counted(memory) == {}


def test_a_pinned_note_and_a_shared_one_outlast_their_uses(memory):
    pinned = note(memory.add(HERON, policy="once", **ANA))
    memory.pin(pinned, **ANA)
    shared = note(memory.add(TIDE, policy="once", shared=True))
    assert reflect(memory, pinned).decisions == ()
    assert reflect(memory, shared, answer="At noon the tide turns.").decisions == ()
    assert memory.get(shared, shared=True)


def test_an_answer_ends_what_it_used(tenant, embedder, tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text(CLASSES)
    settings = {"lifecycle": {"policies": str(path)}}
    with memory_with(tenant, embedder, ScriptedChat(["Fish [1]."]), only=["answering"], **settings) as (memory, _):
        memory.add(HERON, policy="once", **ANA)
        assert memory.answer(ASKED, **ANA).text == "Fish [1]."
        assert found(memory) == []


# ---- extend -------------------------------------------------------------------------------------


def test_what_proves_useful_lives_longer_each_time_it_passes_the_bound(memory):
    worthy = note(memory.add(HERON, policy="worthy", **ANA))
    assert reflect(memory, worthy).decisions == ()  # 60
    (longer,) = reflect(memory, worthy).decisions  # 70
    assert (longer.kind, longer.note) == ("policy", worthy)
    assert memory.get(worthy, **ANA).expires_at == BEGIN + 40 * DAY
    assert memory.get(worthy, **ANA).erase_at == BEGIN + 45 * DAY
    assert memory.get(worthy, **ANA).sources[0].expires_at == BEGIN + 40 * DAY
    assert reflect(memory, worthy).decisions == ()  # 75
    memory.undo(longer.id, **ANA)
    assert memory.get(worthy, **ANA).expires_at == BEGIN + 10 * DAY
    assert memory.verify(**ANA) == []


def test_what_has_no_end_is_not_prolonged(memory):
    worthy = note(memory.add(HERON, policy="worthy", **ANA))
    memory.pin(worthy, **ANA)
    reflect(memory, worthy)
    assert reflect(memory, worthy).decisions == ()
    assert memory.get(worthy, **ANA).expires_at == NEVER


# ---- prune --------------------------------------------------------------------------------------


def work(memory):
    """What the worker's job did, and why."""
    runs = []
    assert Worker(memory.engine, tell=runs.append).once()
    return [(run.counts, run.why) for run in runs if run.kind == "prune"]


def unused(memory, *ids, times=6):
    """Show notes in vain until they are of little use: 30, 28, … 18."""
    for _ in range(times):
        reflect(memory, *ids, answer="I can't say.")


def test_what_is_of_little_use_is_archived_by_a_decision_that_can_be_undone(memory, clock):
    memory.add_many([{"text": HERON, "session": "s"}, {"text": TIDE, "session": "s"}], **ANA)
    low, useful = [one.id for one in memory.get_all(**ANA)]
    unused(memory, low)
    before = snapshot(memory)
    assert work(memory) == []  # it is too young
    clock.now += 8 * DAY
    assert work(memory) == [({"archived": 1}, "a day's use")]
    assert found(memory) == [useful]
    assert "heron" not in memory.get(useful, **ANA).context  # the turn after it quotes it no more
    (decision, *_) = memory.decisions(**ANA)
    assert (decision.kind, decision.note) == ("archive", low)
    assert decision.evidence == "It has proved of little use: a utility below 20 of 100."
    assert memory.history(low, **ANA)[-1].note.status == "archived"
    assert memory.verify(**ANA) == []
    memory.undo(decision.id, **ANA)
    after = snapshot(memory)
    same(_unweighed(before), _unweighed(after))


def _unweighed(taken):
    """A snapshot without when utilities were looked at."""
    from collections import Counter

    nodes, ties = taken
    return (
        Counter(
            {
                (kind, tuple(pair for pair in given if pair[0] != "weighed_at")): number
                for (kind, given), number in nodes.items()
            }
        ),
        ties,
    )


def test_what_comes_back_begins_anew(memory, clock):
    low = note(memory.add(HERON, **ANA))
    unused(memory, low)
    clock.now += 8 * DAY
    assert work(memory)
    memory.restore(low, **ANA)
    assert counted(memory)[low].utility == 30
    clock.now += 2 * DAY
    assert work(memory) == []
    assert found(memory) == [low]


def test_a_memory_is_looked_at_once_a_day(memory, clock):
    low = note(memory.add(HERON, **ANA))
    clock.now += 8 * DAY
    assert work(memory) == []
    unused(memory, low)
    assert work(memory) == []
    clock.now += DAY
    assert work(memory) == [({"archived": 1}, "a day's use")]


def test_what_is_kept_pinned_or_shared_is_not_archived(memory, clock):
    kept = note(memory.add(HERON, policy="kept", **ANA))
    pinned = note(memory.add(TIDE, **ANA))
    shared = note(memory.add("The bakery sells rye bread.", shared=True))
    memory.pin(pinned, **ANA)
    unused(memory, kept, pinned, shared)
    reflect(memory, shared, answer="I can't say.", shared=True)
    clock.now += 400 * DAY
    assert work(memory) == []


def test_what_nobody_was_shown_for_a_year_is_of_little_use(memory, clock):
    memory.add(HERON, **ANA)
    paper = note(memory.add(TIDE, kind="document", **ANA))
    clock.now += 335 * DAY
    assert work(memory) == [({"archived": 1}, "a day's use")]
    assert [one.id for one in memory.get_all(**ANA)] == [paper]


def test_nothing_is_archived_by_default(connected, clock):  # noqa: F811
    memory = connected()
    low = note(memory.add(HERON, **ANA))
    unused(memory, low)
    clock.now += 400 * DAY
    assert work(memory) == []
    assert counted(memory)[low].utility == 18
    assert not Settings.load().use.prune
