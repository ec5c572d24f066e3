"""A single tie can be taken back: both notes stay, and all that the tie made of them is undone."""

import pytest

from memgraph_engine import Memory
from memgraph_engine.errors import InvalidInput, NotFound, UndoRefused
from tests.snapshots import same, snapshot

MINT, GINGER = "My favourite tea is mint, so buy some.", "My favourite tea is ginger now."
CAT, NO_CAT = "I adopted a grey cat from the shelter in Porto.", "I did not adopt a grey cat from the shelter in Porto."
NOON, HOURS = "The ferry to Madeira leaves at noon.", "The ferry to Madeira takes nine hours."
LIVED, MOVED = "I live in Lisbon.", "I no longer live in Lisbon, I moved to Faro."
SUN = "Good that the sun shines on the river there."

TIED = {"link": (NOON, HOURS), "change": (MINT, GINGER), "conflict": (CAT, NO_CAT), "supersede": (LIVED, MOVED)}
every_kind = pytest.mark.parametrize("kind", TIED)


def said(memory, text, day=1, user="ana", **given):
    message = {"text": text, "speaker": "Ana", "time": f"2024-05-0{day}", **given}
    (entry,) = memory.add(message, user_id=user).entries
    return entry.note


def tied(memory, kind, user="ana"):
    """Say two things that the gate ties; returns the older note and the newer one."""
    old, new = (said(memory, text, day, user) for day, text in enumerate(TIED[kind], 1))
    assert [(tie.note, tie.kind) for tie in memory.explain(new, user_id=user).ties] == [(old, kind)]
    return old, new


@every_kind
@pytest.mark.parametrize("newer_first", [True, False])
def test_a_tie_is_taken_back_from_either_end_and_both_notes_stay(memory, kind, newer_first):
    old, new = tied(memory, kind)
    decision = memory.untie(*((new, old) if newer_first else (old, new)), user_id="ana")
    assert (decision.kind, decision.note) == ("untie", "")
    assert decision.evidence == f"Takes back a tie of the kind {kind}, from {new} to {old}."
    assert memory.explain(old, user_id="ana").ties == memory.explain(new, user_id="ana").ties == ()
    assert [note.status for note in memory.get_all(user_id="ana")] == ["active", "active"]
    assert memory.verify(user_id="ana") == []


@every_kind
def test_an_undo_brings_the_tie_back(memory, kind):
    old, new = tied(memory, kind)
    before, ties = snapshot(memory), memory.explain(new, user_id="ana").ties
    decision = memory.untie(old, new, user_id="ana")
    undone = memory.undo(decision.id, user_id="ana")
    assert (undone.undoes, undone.evidence) == (decision.id, "Takes back untie.")
    assert memory.explain(new, user_id="ana").ties == ties
    same(snapshot(memory), before)
    again = memory.untie(old, new, user_id="ana")
    memory.undo(again.id, user_id="ana")
    same(snapshot(memory), before)
    assert memory.verify(user_id="ana") == []


@every_kind
def test_the_story_of_both_notes_tells_of_it(memory, kind):
    old, new = tied(memory, kind)
    decision = memory.untie(old, new, user_id="ana")
    undone = memory.undo(decision.id, user_id="ana")
    for note in (old, new):
        assert [one.id for one in memory.explain(note, user_id="ana").decisions][-2:] == [decision.id, undone.id]
    last, first = memory.decisions(user_id="ana", limit=2)
    assert {about.note for about in first.about} == {about.note for about in last.about} == {old, new}
    assert len(first.about) == len(last.about) == 2
    assert [version.decision.kind for version in memory.history(new, user_id="ana")] == [
        "supersede" if kind == "supersede" else "link"
    ]


def test_what_changed_no_more_was_not_true_only_until_then(memory):
    old, new = tied(memory, "change")
    question = "What is my favourite tea?"
    memory.untie(old, new, user_id="ana")
    assert "was true until" not in memory.context(question, user_id="ana").text
    assert {hit.note.id: hit.until for hit in memory.search(question, user_id="ana")} == {old: None, new: None}


def test_what_contradicts_no_more_is_not_said_to(memory):
    old, new = tied(memory, "conflict")
    question = "Did I adopt a grey cat from the shelter?"
    entries = memory.context(question, user_id="ana").entries
    assert {entry.note.id: entry.remarks for entry in entries} == {old: (), new: ("later than [2]",)}
    memory.untie(old, new, user_id="ana")
    entries = memory.context(question, user_id="ana").entries
    assert {entry.note.id: entry.remarks for entry in entries} == {old: (), new: ()}


def test_what_was_replaced_wrongly_is_found_again(memory):
    old, new = tied(memory, "supersede")
    assert old not in {hit.note.id for hit in memory.search("Where do I live?", user_id="ana")}
    assert memory.explain(old, user_id="ana").note.valid_to.year == 2024
    decision = memory.untie(old, new, user_id="ana")
    hits = {hit.note.id: (hit.until, hit.replaced_by) for hit in memory.search("Where do I live?", user_id="ana")}
    assert hits == {old: (None, None), new: (None, None)}
    version = memory.history(old, user_id="ana")[-1]
    assert (version.decision.id, version.note.status, version.note.valid_to.year) == (decision.id, "active", 9999)
    memory.undo(decision.id, user_id="ana")
    assert {note.id for note in memory.get_all(user_id="ana")} == {new}


def test_what_was_replaced_wrongly_is_quoted_again(memory):
    lived, sun, moved = (said(memory, text, day, session="s") for day, text in enumerate((LIVED, SUN, MOVED), 1))
    assert LIVED not in memory.get(sun, user_id="ana").context
    decision = memory.untie(moved, lived, user_id="ana")
    assert LIVED in memory.get(sun, user_id="ana").context
    memory.undo(decision.id, user_id="ana")
    assert LIVED not in memory.get(sun, user_id="ana").context


def test_what_comes_back_quotes_no_turn_that_was_deleted_meanwhile(memory):
    sun, lived, moved = (said(memory, text, day, session="s") for day, text in enumerate((SUN, LIVED, MOVED), 1))
    memory.delete(sun, user_id="ana")
    memory.untie(moved, lived, user_id="ana")
    assert "sun" not in memory.get(lived, user_id="ana").context
    assert memory.verify(user_id="ana") == []


def test_what_was_brought_back_can_be_replaced_by_another(memory):
    old, new = tied(memory, "supersede")
    decision = memory.untie(old, new, user_id="ana")
    third = said(memory, "I no longer live in Lisbon, I moved to Porto.", 3)
    assert (third, "supersede") in [(tie.note, tie.kind) for tie in memory.explain(old, user_id="ana").ties]
    with pytest.raises(UndoRefused, match="later ones"):
        memory.undo(decision.id, user_id="ana")
    memory.undo(decision.id, cascade=True, user_id="ana")
    assert [note.id for note in memory.get_all(user_id="ana")] == [new]
    assert memory.verify(user_id="ana") == []


def test_the_gate_ties_two_notes_no_more(memory):
    """What joins a note is compared with the others, and would tie the two a second time."""
    noon, hours = tied(memory, "link")
    decision = memory.untie(noon, hours, user_id="ana")
    assert said(memory, "Nine hours the ferry to Madeira takes.", 3) == hours
    (merge,) = memory.decisions(user_id="ana", limit=1)
    assert (noon, "related") in [(one.note, one.relation) for one in merge.considered]
    assert memory.explain(hours, user_id="ana").ties == ()
    memory.undo(decision.id, user_id="ana")
    assert [tie.note for tie in memory.explain(hours, user_id="ana").ties] == [noon]
    assert memory.verify(user_id="ana") == []


def test_a_note_whose_tie_was_taken_back_can_be_taken_back_too(memory):
    first = said(memory, CAT)
    before = snapshot(memory)
    second = said(memory, NO_CAT, 2)
    (made,) = memory.decisions(user_id="ana", limit=1)
    untied = memory.untie(first, second, user_id="ana")
    memory.undo(made.id, user_id="ana")
    same(snapshot(memory), before)
    for cascade in (False, True):
        with pytest.raises(UndoRefused, match="took back a tie that is gone"):
            memory.undo(untied.id, cascade=cascade, user_id="ana")
    taken = memory.decisions(user_id="ana", limit=1)[0].evidence
    assert taken.startswith("Takes back link, and the message that it stored.")
    assert f"{first} is wrong, add the message again, and untie the two" in taken
    assert said(memory, NO_CAT, 2) == second
    assert [tie.note for tie in memory.explain(second, user_id="ana").ties] == [first], "it is said anew, and so judged"
    assert memory.verify(user_id="ana") == []


@pytest.mark.parametrize("first", ["older", "newer"])
def test_nothing_is_left_of_a_tie_whose_notes_are_both_undone(memory, first):
    said(memory, "The tide turns at noon.")
    before = snapshot(memory)
    old, new = tied(memory, "conflict")
    newer, older = (decision.id for decision in memory.decisions(user_id="ana", limit=2))
    untied = memory.untie(old, new, user_id="ana")
    for made in (older, newer) if first == "older" else (newer, older):
        memory.undo(made, user_id="ana")
        with pytest.raises(UndoRefused, match="took back a tie that is gone"):
            memory.undo(untied.id, user_id="ana")
    same(snapshot(memory), before)
    assert memory.verify(user_id="ana") == []


def test_an_undone_construction_forgets_what_was_untied_from_it(memory):
    first = said(memory, CAT)
    waits = {"text": NO_CAT, "speaker": "Ana", "time": "2024-05-02"}
    memory.add(waits, wait=False, user_id="ana")
    before = snapshot(memory)
    (made,) = memory.process(user_id="ana").entries
    memory.untie(first, made.note, user_id="ana")
    memory.undo(made.decision, user_id="ana")
    same(snapshot(memory), before)
    memory.process(user_id="ana")
    assert [tie.note for tie in memory.explain(first, user_id="ana").ties] == [made.note]


def test_a_correction_is_taken_back_only_with_what_was_untied_from_it(memory):
    old, new = tied(memory, "supersede")
    made = next(one for one in memory.decisions(user_id="ana") if one.kind == "supersede")
    untied = memory.untie(old, new, user_id="ana")
    with pytest.raises(UndoRefused, match=f"untie {untied.id}"):
        memory.undo(made.id, user_id="ana")
    memory.undo(made.id, cascade=True, user_id="ana")
    assert [(note.id, note.status) for note in memory.get_all(user_id="ana")] == [(old, "active")]
    assert memory.verify(user_id="ana") == []


def test_a_source_names_its_note_as_well(memory):
    said(memory, CAT, id="a")
    said(memory, NO_CAT, 2, id="b")
    assert memory.untie("a", "b", user_id="ana").kind == "untie"


def test_what_is_not_tied_is_refused_and_left_alone(memory):
    old, new = tied(memory, "conflict")
    other = said(memory, "The tide turns at noon.", 3, id="tide")
    before = memory.stats(user_id="ana").version
    with pytest.raises(NotFound, match="no note 'nowhere'"):
        memory.untie(old, "nowhere", user_id="ana")
    with pytest.raises(NotFound, match="no tie between"):
        memory.untie(old, other, user_id="ana")
    with pytest.raises(InvalidInput, match="the same note"):
        memory.untie(other, "tide", user_id="ana")
    with pytest.raises(InvalidInput, match="user_id"):
        memory.untie(old, new)
    assert memory.stats(user_id="ana").version == before


def test_a_tie_is_taken_back_once(memory):
    old, new = tied(memory, "conflict")
    decision = memory.untie(old, new, user_id="ana")
    with pytest.raises(UndoRefused, match=f"already, by {decision.id}"):
        memory.untie(new, old, user_id="ana")


def test_the_ties_of_a_deleted_note_wait_for_its_return(memory):
    old, new = tied(memory, "conflict")
    deleted = memory.delete(new, user_id="ana")
    with pytest.raises(NotFound, match="is deleted"):
        memory.untie(old, new, user_id="ana")
    memory.undo(deleted.id, user_id="ana")
    decision = memory.untie(old, new, user_id="ana")
    memory.delete(old, user_id="ana")
    memory.undo(decision.id, user_id="ana")
    assert [tie.note for tie in memory.explain(new, user_id="ana").ties] == [old]
    assert memory.verify(user_id="ana") == []


def test_ties_of_others_are_out_of_reach(memory, embedder):
    old, new = tied(memory, "conflict")
    theirs = tied(memory, "conflict", user="bo")
    for one, other in ((old, new), theirs, (old, theirs[1])):
        with pytest.raises(NotFound):
            memory.untie(one, other, user_id="cy")
        with pytest.raises(NotFound):
            memory.untie(one, other, shared=True)
    with pytest.raises(NotFound):
        memory.untie(old, theirs[1], user_id="ana")
    tenant = f"{memory.engine.settings.tenant}-2"
    with Memory.connect(tenant=tenant, embedder=embedder) as stranger, pytest.raises(NotFound):
        stranger.untie(old, new, user_id="ana")
    decision = memory.untie(old, new, user_id="ana")
    with pytest.raises(NotFound):
        memory.undo(decision.id, user_id="bo")
    assert [tie.kind for tie in memory.explain(theirs[1], user_id="bo").ties] == ["conflict"]


# ---- what a tie was judged by -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["change", "conflict"])
@pytest.mark.parametrize("newer", [True, False])
def test_a_note_of_another_text_is_in_no_change_or_conflict_that_was_judged_by_the_old_one(memory, kind, newer):
    old, new = tied(memory, kind)
    before = snapshot(memory)
    decision = memory.update(new if newer else old, "The harbour is closed.", user_id="ana")
    ties = memory.explain(new, user_id="ana").ties
    assert [tie.kind for tie in ties] == (["change"] if kind == "change" and not newer else [])
    text = memory.context("Tea? Cat? Harbour?", user_id="ana").text
    assert "was true until" not in text
    assert "disputed" not in text
    assert memory.verify(user_id="ana") == []
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)
    assert [tie.kind for tie in memory.explain(new, user_id="ana").ties] == [kind]


def test_a_line_that_leaves_a_note_takes_along_what_it_changed(memory):
    old = said(memory, "I keep 6 hens by the mill.", 1)
    line = {"text": "I keep 4 hens by the mill now.", "speaker": "Ana", "time": "2024-05-03"}
    entries = [memory.add({**line, "id": key}, user_id="ana").entries[0] for key in ("now", "again")]
    more = memory.add({**line, "text": "Now I keep 4 hens by the mill.", "id": "more"}, user_id="ana")
    (new,) = {one.note for one in (*entries, *more.entries)}
    before = snapshot(memory)
    for sources, kinds in ((["now"], ["change"]), (["now", "again"], [])):  # said twice, it stands
        deletions = [memory.delete(source, user_id="ana") for source in sources]
        assert [tie.kind for tie in memory.explain(new, user_id="ana").ties] == kinds
        assert memory.verify(user_id="ana") == []
        for deletion in reversed(deletions):
            memory.undo(deletion.id, user_id="ana")
        same(snapshot(memory), before)
    assert [tie.note for tie in memory.explain(new, user_id="ana").ties] == [old]
