"""Every decision can be taken back, and undoing all of them leaves the graph as it was."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memgraph_engine import Memory
from memgraph_engine.errors import NotFound, UndoRefused
from memgraph_engine.graph.decisions import untied
from memgraph_engine.graph.scopes import purge_tenant
from memgraph_engine.model.ports import utc_now
from tests.snapshots import same, snapshot

LINES = [
    "The ferry to Madeira leaves at noon.",
    "The ferry to Madeira leaves at noon!",
    "At noon the ferry leaves to Madeira.",
    "Our beekeeper sold two hives.",
    "Our beekeeper did not sell two hives.",
    "Lisbon has yellow trams.",
    "I moved to Lisbon, where the yellow trams are.",
    "Thanks!",
    "I no longer live in Lisbon, I moved to Madeira.",
    "I live in Lisbon.",
]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, len(LINES) - 1), min_size=1, max_size=4)),
        st.tuples(st.just("defer"), st.lists(st.integers(0, len(LINES) - 1), min_size=1, max_size=3)),
        st.tuples(st.just("process")),
        st.tuples(st.just("update"), st.integers(0, 9), st.integers(0, len(LINES) - 1)),
        st.tuples(st.just("delete"), st.integers(0, 9)),
        st.tuples(st.just("untie"), st.integers(0, 9)),
        st.tuples(st.just("undo"), st.integers(0, 9)),
        st.tuples(st.just("evict"), st.integers(1, 4)),
        st.tuples(st.just("restore"), st.integers(0, 9)),
    ),
    min_size=1,
    max_size=4,
)


def take(memory, step, number):
    """Do a step; what can't be done is refused, and changes nothing."""
    kind, *given = step
    if kind in ("process", "evict", "restore"):
        _manage(memory, kind, *given)
        return
    if kind in ("add", "defer"):
        talk = [
            {"id": f"{number}-{place}", "text": LINES[line], "speaker": "Ana", "session": f"s{line % 2}"}
            for place, line in enumerate(given[0])
        ]
        memory.add_many(talk, wait=kind == "add", user_id="ana")
        return
    if kind == "undo":
        open_ones = [d for d in memory.decisions(user_id="ana") if not d.undone_by and d.kind != "undo"]
        if open_ones:
            take_back(memory, open_ones[given[0] % len(open_ones)], cascade=True)
        return
    notes = list(memory.get_all(user_id="ana"))
    if not notes:
        return
    note = notes[given[0] % len(notes)]
    if kind == "untie":
        ties = [
            (one.id, tie.note)
            for one in notes
            for tie in memory.explain(one.id, user_id="ana").ties
            if tie.status != "deleted"
        ]
        if ties:
            memory.untie(*ties[given[0] % len(ties)], user_id="ana")
    elif kind == "update":
        memory.update(note.id, LINES[given[1]], user_id="ana")
    else:
        memory.delete(note.id, user_id="ana")


def _manage(memory, kind, *given):
    """Construct what waits, evict what is over a cap two days later, or bring back one of what was evicted."""
    if kind == "process":
        memory.process(user_id="ana")
    elif kind == "evict":
        memory.limit(given[0], user_id="ana")
        later = replace(memory.engine, clock=lambda: utc_now() + timedelta(days=2))
        Memory(later).evict(user_id="ana")
        memory.limit(None, user_id="ana")
    else:
        gone = sorted({id for note in memory.get_all(user_id="ana") for id in note.sums})
        if gone:
            memory.restore(gone[given[0] % len(gone)], user_id="ana")


def take_back(memory, decision, cascade=False):
    """Undo a decision, unless it took back a tie that left together with what had made it."""
    gone = decision.kind == "untie" and not untied(
        memory.engine.db, f"{memory.engine.settings.tenant}/ana", decision.id
    )
    with pytest.raises(UndoRefused, match="a tie that is gone") if gone else nullcontext():
        memory.undo(decision.id, cascade=cascade, user_id="ana")


def undo_everything(memory, user="ana"):
    for decision in memory.decisions(user_id=user, limit=1000):
        if not decision.undone_by and decision.kind != "undo":
            current = next(d for d in memory.decisions(user_id=user, limit=1000) if d.id == decision.id)
            if not current.undone_by:
                memory.undo(decision.id, cascade=True, user_id=user)


def check_undo(memory, start, script):
    """Undo whatever a script did on top of some first notes, whole, and find the first notes as they were."""
    engine = memory.engine
    settings = engine.settings.model_copy(update={"tenant": f"test-{uuid4().hex}"})
    mine = Memory(replace(engine, settings=settings))
    try:
        mine.add_many([{"id": f"first-{n}", "text": LINES[n], "session": "s0"} for n in start], user_id="ana")
        first = {decision.id for decision in mine.decisions(user_id="ana", limit=1000)}
        before = snapshot(mine)
        for number, step in enumerate(script):
            take(mine, step, number)
        assert mine.verify(user_id="ana") == []
        made = mine.decisions(user_id="ana", limit=1000)
        touched = [d for d in made if d.id in first and d.undone_by]
        for decision in made:
            if decision.id not in first and decision.kind != "undo" and not decision.undone_by:
                take_back(mine, decision)  # in reverse order none stands on another
        assert mine.verify(user_id="ana") == []
        if not touched:
            same(snapshot(mine), before)
    finally:
        purge_tenant(engine.db, mine.engine.settings.tenant)


@pytest.mark.timeout(900)
@settings(max_examples=2, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, len(LINES) - 1), max_size=3, min_size=1, unique=True), steps)
def test_undoing_everything_leaves_the_graph_as_it_was(memory, start, script):
    check_undo(memory, start, script)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=1000, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, len(LINES) - 1), max_size=3, min_size=1, unique=True), steps)
def test_undoing_everything_leaves_the_graph_as_it_was_in_a_thousand_cases(memory, start, script):
    check_undo(memory, start, script)


def test_an_undone_addition_can_be_added_again(memory):
    entry = memory.add({"id": "a", "text": LINES[0]}, user_id="ana").entries[0]
    memory.undo(entry.decision, user_id="ana")
    with pytest.raises(NotFound):
        memory.get("a", user_id="ana")
    assert memory.search("ferry", user_id="ana") == []
    assert memory.add({"id": "a", "text": LINES[3]}, user_id="ana").added == 1
    assert memory.verify(user_id="ana") == []


def test_an_undone_deletion_brings_the_note_back_and_its_words_into_the_next_turns_context(memory):
    talk = [{"id": "a", "text": LINES[0], "session": "s"}, {"id": "b", "text": LINES[5], "session": "s"}]
    memory.add_many(talk, user_id="ana")
    deleted = memory.delete("a", user_id="ana")
    assert "ferry" not in memory.get("b", user_id="ana").context
    memory.undo(deleted.id, user_id="ana")
    assert memory.get("a", user_id="ana").status == "active"
    assert "ferry" in memory.get("b", user_id="ana").context


@pytest.mark.parametrize("change", ["update", "delete"])
def test_what_an_undo_brings_back_repeats_no_turn_that_was_deleted_meanwhile(memory, change):
    talk = [{"id": "a", "text": LINES[0], "session": "s"}, {"id": "b", "text": LINES[5], "session": "s"}]
    memory.add_many(talk, user_id="ana")
    decision = memory.update("b", LINES[3], user_id="ana") if change == "update" else memory.delete("b", user_id="ana")
    memory.delete("a", user_id="ana")
    memory.undo(decision.id, user_id="ana")
    assert memory.get("b", user_id="ana").context == LINES[5]
    assert memory.verify(user_id="ana") == []


def test_an_undone_update_brings_the_old_text_back(memory):
    memory.add({"id": "a", "text": LINES[0]}, user_id="ana")
    decision = memory.update("a", LINES[3], user_id="ana")
    memory.undo(decision.id, user_id="ana")
    note = memory.get("a", user_id="ana")
    assert (note.context, note.sources[0].text) == (LINES[0], LINES[0])
    assert [version.decision.kind for version in memory.history("a", user_id="ana")] == ["append", "update", "undo"]


def test_an_undo_is_refused_while_a_later_decision_stands_on_it(memory):
    entry = memory.add({"id": "a", "text": LINES[0]}, user_id="ana").entries[0]
    later = memory.update("a", LINES[3], user_id="ana")
    with pytest.raises(UndoRefused, match=later.id):
        memory.undo(entry.decision, user_id="ana")
    memory.undo(entry.decision, cascade=True, user_id="ana")
    assert list(memory.get_all(user_id="ana")) == []


def test_an_undo_of_what_is_not_there_undone_or_an_undo_itself_is_refused(memory):
    entry = memory.add({"id": "a", "text": LINES[0]}, user_id="ana").entries[0]
    with pytest.raises(NotFound, match="nowhere"):
        memory.undo("nowhere", user_id="ana")
    with pytest.raises(NotFound):  # another user's
        memory.undo(entry.decision, user_id="bo")
    undone = memory.undo(entry.decision, user_id="ana")
    with pytest.raises(UndoRefused, match="already"):
        memory.undo(entry.decision, user_id="ana")
    with pytest.raises(UndoRefused, match="itself an undo"):
        memory.undo(undone.id, user_id="ana")


def test_decisions_are_listed_in_their_order_even_if_a_clock_was_put_back(tenant, embedder):
    days = iter([10, 3])
    with Memory.connect(tenant=tenant, embedder=embedder, clock=lambda: datetime(2026, 3, day, tzinfo=UTC)) as memory:
        for text in LINES[3], LINES[5]:
            day = next(days)
            memory.add(text, user_id="ana")
        memory.update(next(memory.get_all(user_id="ana")).id, LINES[6], user_id="ana")
        day = 20
        listed = memory.decisions(user_id="ana")
        assert [one.version for one in listed] == [3, 2, 1]
        for one in listed:
            memory.undo(one.id, user_id="ana")
        assert not list(memory.get_all(user_id="ana"))


def test_the_story_of_a_note_tells_its_versions_and_decisions(memory):
    memory.add({"id": "a", "text": LINES[0]}, user_id="ana")
    memory.update("a", LINES[3], user_id="ana")
    story = memory.explain("a", user_id="ana")
    assert [decision.kind for decision in story.decisions] == ["append", "update"]
    assert [version.note.context for version in story.versions] == [LINES[0], LINES[3]]
    assert story.note.context == LINES[3]


def test_an_undone_merge_of_a_pending_note_brings_back_that_one_and_none_of_its_earlier_lives(memory):
    pending = {"id": "a", "text": LINES[0]}
    first = memory.add(pending, wait=False, user_id="ana").entries[0]
    memory.undo(first.decision, user_id="ana")
    memory.add({"id": "x", "text": LINES[1]}, user_id="ana")
    memory.add(pending, wait=False, user_id="ana")
    (merged,) = memory.process(user_id="ana").entries
    assert merged.kind == "merge"
    memory.undo(merged.decision, user_id="ana")
    assert memory.get("a", user_id="ana").status == "pending"
    assert [source.id for source in memory.get("x", user_id="ana").sources] == ["x"]
    assert memory.verify(user_id="ana") == []


def test_small_talk_never_waits_and_leaves_with_its_decision(memory):
    (entry,) = memory.add({"id": "a", "text": "Thanks!"}, wait=False, user_id="ana").entries
    assert (entry.kind, memory.process(user_id="ana").entries) == ("discard", ())
    memory.undo(entry.decision, user_id="ana")
    assert memory.stats(user_id="ana").sources == 0
    assert memory.verify(user_id="ana") == []


def test_a_pending_note_that_got_another_text_waits_with_the_old_one_after_an_undo(memory):
    memory.add({"id": "a", "text": LINES[0]}, wait=False, user_id="ana")
    decision = memory.update("a", LINES[3], user_id="ana")
    assert (memory.get("a", user_id="ana").status, memory.get("a", user_id="ana").context) == ("pending", LINES[3])
    assert memory.verify(user_id="ana") == []
    memory.undo(decision.id, user_id="ana")
    assert (memory.get("a", user_id="ana").status, memory.get("a", user_id="ana").context) == ("pending", LINES[0])
    assert len(memory.process(user_id="ana").entries) == 1
    assert memory.verify(user_id="ana") == []


def test_a_pending_note_that_is_deleted_is_in_order_and_waits_again_after_an_undo(memory):
    memory.add({"id": "a", "text": LINES[0]}, wait=False, user_id="ana")
    decision = memory.delete("a", user_id="ana")
    assert memory.verify(user_id="ana") == []
    assert memory.process(user_id="ana").entries == ()
    memory.undo(decision.id, user_id="ana")
    assert memory.get("a", user_id="ana").status == "pending"


def test_a_cascade_takes_back_what_another_writer_adds_meanwhile(memory, monkeypatch):
    from memgraph_engine.writing import undo as undoing

    entry = memory.add({"id": "a", "text": LINES[0]}, user_id="ana").entries[0]
    memory.update("a", LINES[3], user_id="ana")
    later = undoing.later

    def slow(*given):
        found = later(*given)
        if len(memory.decisions(user_id="ana")) == 2:
            memory.update("a", LINES[5], user_id="ana")
        return found

    monkeypatch.setattr(undoing, "later", slow)
    memory.undo(entry.decision, cascade=True, user_id="ana")
    assert list(memory.get_all(user_id="ana")) == []
    assert memory.verify(user_id="ana") == []


def test_a_session_whose_first_message_is_undone_still_counts(memory):
    talk = [{"id": str(n), "text": text, "session": "s"} for n, text in enumerate(LINES[:4:3])]
    first = memory.add_many(talk, user_id="ana").entries[0]
    memory.undo(first.decision, user_id="ana")
    assert memory.stats(user_id="ana").sessions == 1


def test_what_was_undone_can_still_be_explained(memory):
    said = {"id": "d1", "text": "The ferry to Madeira leaves at noon.", "speaker": "Ana"}
    (made,) = memory.add(said, user_id="ana").entries
    taken = memory.undo(made.decision, user_id="ana")
    for named in (made.note, "d1"):
        story = memory.explain(named, user_id="ana")
        assert (story.note.id, story.note.status) == (made.note, "undone")
        assert [one.id for one in story.decisions] == [made.decision, taken.id]
        (version,) = memory.history(named, user_id="ana")
        assert [source.text for source in version.note.sources] == [said["text"]]
        with pytest.raises(NotFound):
            memory.get(named, user_id="ana")
        with pytest.raises(NotFound):
            memory.explain(named, user_id="bo")


def test_a_source_that_was_undone_leads_to_the_note_that_it_witnessed(memory):
    first, second = ({"id": name, "text": "The ferry leaves at noon.", "speaker": "Ana"} for name in ("a", "b"))
    note = memory.add(first, user_id="ana").entries[0].note
    (again,) = memory.add(second, user_id="ana").entries
    assert again.kind == "reinforce"
    memory.undo(again.decision, user_id="ana")
    story = memory.explain("b", user_id="ana")
    assert (story.note.id, story.note.status) == (note, "active")
    assert [source.id for source in story.note.sources] == ["a"]


def test_one_s_own_undone_note_goes_before_a_shared_one_of_the_same_id(memory):
    said = {"id": "x", "text": "The ferry leaves at noon."}
    (made,) = memory.add(said, user_id="ana").entries
    memory.undo(made.decision, user_id="ana")
    (shared,) = memory.add({**said, "text": "The tram leaves at one."}, shared=True).entries
    assert memory.get("x", user_id="ana").id == shared.note
    assert memory.explain("x", user_id="ana").note.id == made.note
    assert memory.explain(shared.note, user_id="ana").note.status == "active"


def test_keywords_of_what_can_not_be_read_keep_no_others_from_being_found(memory):
    """Recall goes over the ten keywords nearest to a question; those of deleted notes were among them."""

    def found():
        return {anchor.keyword for anchor in memory.anchors("Is there a ferry?", user_id="ana")}

    colours = [
        "red",
        "blue",
        "green",
        "black",
        "white",
        "yellow",
        "brown",
        "grey",
        "golden",
        "silver",
        "purple",
        "orange",
    ]
    ferries = [f"{who} {colour} ferry." for colour in colours for who in ("A", "My uncle painted the")]
    made = memory.add_many([*ferries, "A wooden boat.", "My uncle painted the wooden boat."], user_id="ana").entries
    notes = [memory.get(note, user_id="ana") for note in dict.fromkeys(entry.note for entry in made)]
    assert len(notes) == len(made)
    first, last = ({*one.keywords} & {*other.keywords} for one, other in (notes[:2], notes[-2:]))
    assert first
    assert last
    assert not last & found()
    deleted = [memory.delete(note.id, user_id="ana") for note in notes[:-2]]
    assert found() == last
    assert memory.history(notes[0].id, user_id="ana")[-1].note.keywords == notes[0].keywords
    memory.undo(deleted[0].id, user_id="ana")
    assert found() == last  # one note alone carries it
    memory.undo(deleted[1].id, user_id="ana")
    assert found() >= {*last, *first}
    assert memory.verify(user_id="ana") == []


def test_a_keyword_rests_until_a_note_that_can_be_read_carries_it(memory):
    """It is the same keyword then, whoever brings it back: another note, or an undo."""
    first = memory.add({"id": "a", "text": "Our beekeeper sold two hives."}, user_id="ana").entries[0]
    names = memory.get(first.note, user_id="ana").keywords
    memory.delete(first.note, user_id="ana")
    assert memory.anchors("beekeeper", user_id="ana") == []
    memory.add({"id": "b", "text": "A beekeeper needs a veil."}, user_id="ana")
    again = {anchor.keyword for anchor in memory.anchors("beekeeper", user_id="ana")}
    assert again & set(names)
    assert memory.verify(user_id="ana") == []
