"""A long message is one source, told by several notes: found by what stands at its end, and changed as one message."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import count, pairwise
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from memgraph_engine import Memory, Settings
from memgraph_engine.errors import InvalidInput, NotFound, SourceConflict, UndoRefused
from memgraph_engine.graph.scopes import purge_tenant
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.ingest.passages import cuts
from memgraph_engine.model.marker import TAG, own, without_recalled
from tests.snapshots import same, snapshot
from tests.test_undo import undo_everything

LIMIT = 1200  # characters of a passage, by default
MARK = re.compile(f"</?{TAG}>?", re.IGNORECASE)

BEES = (
    "A colony in late summer is busy with three things at once, and each of them tells you something about its health. "
    "The foragers bring in the last bramble and the first ivy, which smells of wet socks while it ripens. "
    "The nurses raise the fat winter bees, whose bodies store what the cluster lives on until the willows bloom. "
    "The guards throw out the drones, and you find them on the landing board in the morning, stiff and confused. "
    "If you see none of this by the middle of September, open the hive on a warm noon and look for eggs, because "
    "a queen that has stopped laying this early has often been replaced, or is about to be."
)
SYRUP = (
    "Feed only after the last harvest is off, and feed in the evening, so that no robbers come before dark. "
    "Two parts of sugar to one of water make the autumn syrup; stir it cold, since burnt sugar gives them dysentery. "
    "A shallow tray with straw in it saves hundreds of them from drowning, and a brick keeps the wind from tipping it. "
    "Weigh the hive at the back with a luggage scale: under eighteen kilograms at the end of October it will starve. "
    "Do not open it again to look, however much you want to; every look costs them a day's warmth and a week's honey. "
    "It is a long wait."
)
MITES = (
    "Against mites, a treatment in August is worth three in winter, since it is the brood of September that matters. "
    "Count what falls on the board in three days and divide by three; above ten a day something has to be done soon. "
    "Thymol wants fifteen degrees and upwards, oxalic acid wants no brood at all, and neither wants to be mixed. "
    "Write the dates on the lid with a grease pencil, because nobody remembers in March what was done in August."
)
KEY = "The spare key of the honey room hangs behind the blue oar in the boathouse."
ADVICE = "\n\n".join([BEES, SYRUP, MITES, KEY])
LONG = {"id": "advice", "role": "assistant", "text": ADVICE, "session": "bees", "time": "2024-08-30T18:00"}
ASKED = {"id": "asked", "role": "user", "text": "How do I get my bees through winter?", "session": "bees"}
THANKS = {"id": "then", "role": "user", "text": "Then I will weigh the hive on Sunday.", "session": "bees"}
WHERE = "Where does the spare key of the honey room hang?"


def passages(memory, source="advice", **options):
    """Its notes that can be read, passage by passage."""
    told = [note for note in memory.get_all(user_id="ana", **options) if source in [one.id for one in note.sources]]
    return sorted(told, key=lambda note: next(one.part for one in note.sources if one.id == source))


def texts(notes):
    return [note.text for note in notes]


# ---- the cut ----------------------------------------------------------------------------------


words = st.sampled_from(
    ["Bees.", "A hive!", "鷺が魚を捕った。", "🐝", "x" * 300, "\n", "\n\n", " ", "  \t", "honey", "?", "¿Qué?"]
)
marked = st.sampled_from(["<recalled-memory>", "</recalled-memory>", "<recalled-memory> tag"])
anything = st.one_of(st.text(max_size=700), st.lists(st.one_of(words, words, marked), max_size=120).map(" ".join))


@settings(max_examples=300)
@given(text=anything, limit=st.integers(20, 400))
def test_passages_are_slices_in_order_that_leave_nothing_out(text, limit):
    starts = [0, *cuts(text, limit)]
    parts = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    assert "".join(parts) == text
    assert starts == sorted(set(starts))
    assert all(part.strip() for part in parts) or len(parts) == 1
    assert all(len("".join(part[start:end] for start, end in own(part)).strip()) <= limit for part in parts)
    # at the end of a passage, talk about a mark looks like one; there is nothing behind it that it could hide
    said, whole = (MARK.sub("", one) for one in ("".join(map(without_recalled, parts)), without_recalled(text)))
    assert "".join(said.split()) == "".join(whole.split()), "what is recalled text in the whole is so in its passages"


@pytest.mark.parametrize("text", ["x" * LIMIT, f"{KEY} " * 10, " " * 5000 + KEY + " " * 5000, "\n" * 60_000 + "bees"])
def test_a_message_within_the_limit_is_not_cut(text):
    assert cuts(text, LIMIT) == []


def test_paragraphs_stay_whole_where_they_can():
    assert [ADVICE[start:].partition(" ")[0] for start in cuts(ADVICE, LIMIT)] == ["Against"]
    assert [ADVICE[start:].partition(" ")[0] for start in cuts(ADVICE, 700)] == ["Feed", "Against"]


def pasted(length):
    """Return a log of so many characters, of which the last line alone says what went wrong."""
    lines = (
        f"2024-05-08 13:{n // 60 % 60:02}:{n % 60:02} INFO [w-{n % 40}] merged shard {n * 7919} in {n} ms"
        for n in count()
    )
    end, found, size = "\n2024-05-08 23:59:59 ERROR the heron gauge lost its calibration", [], 0
    while size < length:
        found.append(next(lines))
        size += len(found[-1]) + 1
    return "\n".join(found)[: length - len(end)] + end


def test_a_pasted_log_is_cut_in_linear_time_and_leaves_nothing_out():
    text = pasted(500_000)
    started = time.process_time()
    places = [0, *cuts(text, LIMIT), len(text)]
    assert time.process_time() - started < 5
    parts = [text[start:end] for start, end in pairwise(places)]
    assert "".join(parts) == text
    assert all(0 < len(part.strip()) <= LIMIT for part in parts)
    assert len(parts) < 1.2 * len(text) / LIMIT
    assert all(part.startswith("2024") for part in parts)  # between lines, never within one


def test_the_longest_message_is_taken_as_it_is_and_one_that_is_longer_is_refused_with_its_place():
    settings = Settings()
    own = {"timezone": "UTC", "max_text": settings.max_text}
    assert parse_message(pasted(348_853), "message 3", **own).text == pasted(348_853)
    with pytest.raises(InvalidInput, match="message 3: text has 500,001 characters; a message has at most 500,000"):
        parse_message("x" * 500_001, "message 3", **own)
    with pytest.raises(InvalidInput, match=r"caption has 65,537 characters; .* at most 65,536"):
        parse_message({"text": "A cat.", "caption": "x" * 65_537}, "message 3", **own)
    longest = {"messages": [{"text": "\u9dfa" * settings.max_text, "role": "user"}]}
    assert (
        len(json.dumps(longest)) < settings.serve.body
    )  # so what Python takes, a server takes, escaped as JSON may be


def test_a_list_with_a_pasted_log_is_stored_whole_and_the_end_of_the_log_is_told(memory):
    memory.add_many([{"id": "log", "text": pasted(34_000)}, {"id": "next", "text": KEY}], user_id="ana")
    assert memory.source("log", user_id="ana").text == pasted(34_000)  # more than Lucene's longest term
    context = memory.context("What did the heron gauge lose?", user_id="ana")
    assert "the heron gauge lost its calibration" in context.text
    assert context.tokens <= 2000
    assert KEY in memory.context(WHERE, user_id="ana").text


def test_what_was_recalled_is_never_cut():
    text = f"{BEES}\n\n<recalled-memory>\n{SYRUP}\n\n{MITES}\n</recalled-memory>\n\n{KEY}"
    starts = cuts(text, 700)
    assert [text[start:].strip() for start in starts] == [KEY]
    assert MITES not in without_recalled(text[: starts[0]])


# ---- what users see ---------------------------------------------------------------------------


def test_a_fact_at_the_end_is_found_by_its_meaning(memory):
    text = f"{BEES} {SYRUP}\n\n{KEY}"
    memory.add([ASKED, {**LONG, "text": text}, THANKS], user_id="ana")
    hits = memory.search("Which hook did you mention for what unlocks it?", user_id="ana", explain=True)
    (hit,) = (hit for hit in hits if KEY in hit.note.text)
    assert hit.note.text == KEY
    assert hit.similarity == max(hit.similarity for hit in hits)
    (source,) = hit.note.sources
    assert (source.id, source.role, source.session, source.seq) == ("advice", "assistant", "bees", 1)
    assert source.text == text[slice(*source.span)]
    assert hit.note.to_dict()["sources"][0]["span"] == list(source.span)


def test_the_receipt_names_all_notes_and_one_decision(memory):
    receipt = memory.add([ASKED, LONG, THANKS], user_id="ana")
    assert [entry.source for entry in receipt.entries] == ["asked", "advice", "then"]
    short, long, _ = receipt.entries
    assert (short.passages, short.notes) == ((), (short.note,))
    notes = passages(memory)
    assert long.notes == tuple(note.id for note in notes)
    assert long.note in long.notes
    assert "".join(note.sources[0].text for note in notes) == ADVICE
    assert [note.sources[0].part for note in notes] == list(range(len(notes)))
    (decision,) = (one for one in memory.decisions(user_id="ana") if one.id == long.decision)
    assert (decision.note, decision.sources, decision.kind) == ("", ("advice",), long.kind)
    assert memory.verify(user_id="ana") == []
    assert memory.stats(user_id="ana").sources == 3


def test_a_message_within_the_limit_is_one_note_as_ever(memory):
    (entry,) = memory.add({**LONG, "text": BEES}, user_id="ana").entries
    (source,) = memory.get(entry.note, user_id="ana").sources
    assert (entry.passages, source.part, source.span) == ((), 0, None)


def test_by_the_id_of_the_message_the_first_passage_is_looked_up(memory):
    memory.add(LONG, user_id="ana")
    first, *_ = passages(memory)
    assert memory.get("advice", user_id="ana") == first
    assert [version.note.id for version in memory.history("advice", user_id="ana")] == [first.id]
    story = memory.explain("advice", user_id="ana")
    assert (story.note.id, [decision.kind for decision in story.decisions]) == (first.id, ["link"])


def test_the_message_can_be_read_as_it_came(memory):
    memory.add(LONG, user_id="ana")
    source = memory.source("advice", user_id="ana")
    assert (source.text, source.span, source.part, source.role) == (ADVICE, None, 0, "assistant")
    with pytest.raises(NotFound, match="no source 'other'"):
        memory.source("other", user_id="ana")


def test_a_context_tells_the_passage_and_not_the_whole(memory):
    memory.add([ASKED, LONG], user_id="ana")
    context = memory.context(WHERE, user_id="ana", top_k=1)
    assert KEY in context.text
    assert "A colony in late summer" not in context.text


def test_two_passages_in_one_context_stand_together_once_and_in_order(memory):
    for message in (LONG, {**LONG, "id": "other", "session": ""}):
        memory.add(message, user_id="bo" if message["session"] else "ana")
    for user in ("ana", "bo"):
        memory.add("My cousin Rui keeps bees and a spare honey key too.", user_id=user, speaker="Ana")
        context = memory.context("What of the honey key, the mites, the syrup and the bees?", user_id=user, budget=2000)
        places = [entry.note.sources[0].span for entry in context.entries if entry.note.role == "assistant"]
        lines = [entry.note.role for entry in context.entries]
        assert len(places) == 2
        assert places == sorted(places)
        assert "".join(lines).count("assistantassistant") == 1, "they stand behind each other"
        assert all(context.text.count(part) == 1 for part in (KEY, "A colony in late summer", "Against mites"))


def test_a_context_quotes_the_passage_before_and_the_last_passage_of_the_turn_before(memory):
    text = f"{BEES}\n\n{SYRUP}\n\n{KEY}"
    memory.add([{**LONG, "text": text}, THANKS], user_id="ana")
    *_, last = passages(memory)
    assert last.context.partition("[before: ")[2].startswith("assistant: A colony in late summer")
    assert f"[before: assistant: {KEY}]" in memory.get("then", user_id="ana").context


def test_an_image_belongs_to_the_first_passage(memory):
    memory.add({**LONG, "caption": "a heron on a hive"}, user_id="ana")
    assert ["heron" in note.context for note in passages(memory)] == [True, False]


# ---- the same message again -------------------------------------------------------------------


def test_a_repeat_is_a_repeat_of_the_whole(memory):
    (first,) = memory.add(LONG, user_id="ana").entries
    before = snapshot(memory)
    for wait in (True, False):
        (again,) = memory.add(LONG, user_id="ana", wait=wait).entries
        assert (again.kind, again.decision, again.notes) == ("repeat", None, first.notes)
        assert {one.kind for one in again.passages} == {"repeat"}
    twice = memory.add([LONG, LONG], user_id="ana").entries
    assert [entry.notes for entry in twice] == [first.notes] * 2
    same(snapshot(memory), before)
    with pytest.raises(SourceConflict):
        memory.add({**LONG, "text": f"{ADVICE} Really."}, user_id="ana")


def test_of_a_list_with_a_conflict_nothing_is_written_however_many_batches_it_takes(memory):
    memory.add({"id": "known", "text": KEY}, user_id="ana")
    small = memory.engine.settings.model_copy(update={"ingest_batch": 2})
    mine = Memory(replace(memory.engine, settings=small))
    with pytest.raises(SourceConflict):
        mine.add([LONG, {"id": "known", "text": "It hangs elsewhere."}], user_id="ana")
    assert memory.stats(user_id="ana").sources == 1


def test_the_same_message_twice_in_a_batch_is_stored_once(memory):
    first, again = memory.add([LONG, LONG], user_id="ana").entries
    assert (first.kind, again.kind, again.notes) == ("link", "repeat", first.notes)
    assert memory.stats(user_id="ana").sources == 1


def test_the_same_words_under_another_id_join_the_notes_passage_by_passage(memory):
    (first,) = memory.add(LONG, user_id="ana").entries
    before = snapshot(memory)
    (again,) = memory.add({**LONG, "id": "again"}, user_id="ana").entries
    assert [(one.kind, one.note) for one in again.passages] == [("reinforce", note) for note in first.notes]
    assert [len(note.sources) for note in passages(memory)] == [2, 2]
    assert [source.text for note in passages(memory) for source in note.sources[:1]] == [
        source.text for note in passages(memory) for source in note.sources[1:]
    ]
    assert memory.verify(user_id="ana") == []
    memory.undo(again.decision, user_id="ana")
    same(snapshot(memory), before)


def test_a_paragraph_that_comes_twice_in_a_message_is_told_once(memory):
    text = "\n\n".join([BEES, SYRUP] * 3)
    (entry,) = memory.add({**LONG, "text": text}, user_id="ana").entries
    assert [one.kind for one in entry.passages] == ["append", "reinforce", "reinforce"]
    (note,) = passages(memory)
    assert [source.part for source in note.sources] == [0, 1, 2]
    assert len(memory.history("advice", user_id="ana")) == 2, "however often it comes, it is one change"
    assert memory.verify(user_id="ana") == []
    memory.undo(entry.decision, user_id="ana")
    assert list(memory.get_all(user_id="ana")) == []
    assert memory.verify(user_id="ana") == []


def test_the_passages_of_one_message_never_dispute_each_other(memory):
    each = [f"{BEES}\n\n{SYRUP}".replace("eighteen", number) for number in ("18", "20")]
    for place, text in enumerate(each):  # as two messages they do
        memory.add({"id": f"{place}", "role": "user", "text": text}, user_id="two")
    *_, note = memory.get_all(user_id="two")
    assert {tie.kind for tie in memory.explain(note.id, user_id="two").ties} == {"conflict"}
    for wait, user in ((True, "ana"), (False, "bo")):
        memory.add({"id": "both", "role": "user", "text": "\n\n".join(each)}, user_id=user, wait=wait)
        memory.process(user_id=user)
        notes = list(memory.get_all(user_id=user))
        assert len(notes) == 2
        assert {tie.kind for tie in memory.explain(notes[-1].id, user_id=user).ties} <= {"link"}
        assert len(memory.context("What must the hive weigh?", user_id=user).entries) == 2


# ---- corrections ------------------------------------------------------------------------------

LIVES, MOVED = "I live in Lisbon.", "I no longer live in Lisbon, I moved to Faro."
TALE = {"id": "tale", "role": "user", "text": f"{BEES} {SYRUP}\n\n{LIVES}", "session": "s", "time": "2024-01-01"}


def test_a_correction_takes_back_one_passage_alone(memory):
    memory.add(TALE, user_id="ana")
    told = passages(memory, "tale")
    assert told[-1].text == LIVES
    before = snapshot(memory)
    (entry,) = memory.add({"role": "user", "text": MOVED, "time": "2024-06-01"}, user_id="ana").entries
    assert entry.kind == "supersede"
    assert [note.id for note in passages(memory, "tale")] == [note.id for note in told[:-1]]
    assert memory.history(told[-1].id, user_id="ana")[-1].note.status == "superseded"
    assert memory.verify(user_id="ana") == []
    memory.undo(entry.decision, user_id="ana")
    same(snapshot(memory), before)


def test_a_message_whose_end_takes_back_what_it_began_with(memory):
    text = f"{LIVES}\n\n{BEES} {SYRUP}\n\n{MOVED}"
    (entry,) = memory.add({**TALE, "text": text}, user_id="ana").entries
    if entry.kind == "supersede":  # the first passage holds little else
        assert memory.verify(user_id="ana") == []
    memory.undo(entry.decision, user_id="ana")
    assert list(memory.get_all(user_id="ana")) == []
    assert memory.verify(user_id="ana") == []


# ---- changes ----------------------------------------------------------------------------------


def test_an_undo_takes_the_whole_message_back_and_it_can_be_added_again(memory):
    memory.add([ASKED], user_id="ana")
    memory.add([THANKS], user_id="ana")
    before = snapshot(memory)
    receipt = memory.add({**LONG, "session": "other"}, user_id="ana")
    memory.undo(receipt.entries[0].decision, user_id="ana")
    same(snapshot(memory), before)
    with pytest.raises(NotFound):
        memory.get("advice", user_id="ana")
    story = memory.explain("advice", user_id="ana")
    assert (story.note.status, story.note.sources[0].part) == ("undone", 0)
    again = memory.add({**LONG, "session": "other"}, user_id="ana")
    assert again.entries[0].notes == receipt.entries[0].notes
    assert memory.verify(user_id="ana") == []


def test_an_undo_in_the_middle_of_a_talk_joins_the_turns_around(memory):
    receipt = memory.add([ASKED, LONG, THANKS], user_id="ana")
    memory.undo(receipt.entries[1].decision, user_id="ana")
    assert memory.get("then", user_id="ana").context.endswith("[before: ana: How do I get my bees through winter?]")
    assert memory.verify(user_id="ana") == []


def test_what_was_changed_since_is_undone_with_cascade_alone(memory):
    (entry,) = memory.add(LONG, user_id="ana").entries
    deleted = memory.delete(entry.notes[1], user_id="ana")
    with pytest.raises(UndoRefused, match=deleted.id):
        memory.undo(entry.decision, user_id="ana")
    memory.undo(entry.decision, user_id="ana", cascade=True)
    assert list(memory.get_all(user_id="ana")) == []
    assert memory.verify(user_id="ana") == []


def test_a_message_is_deleted_as_a_whole_by_its_id(memory):
    memory.add([ASKED, LONG, THANKS], user_id="ana")
    before = snapshot(memory)
    decision = memory.delete("advice", user_id="ana")
    assert passages(memory) == []
    assert "key" not in memory.get("then", user_id="ana").context
    assert KEY not in memory.context(WHERE, user_id="ana").text
    with pytest.raises(NotFound, match="deleted"):
        memory.delete("advice", user_id="ana")
    (again,) = memory.add(LONG, user_id="ana").entries
    assert [(one.kind, one.status) for one in again.passages] == [("repeat", "deleted")] * 2
    assert memory.verify(user_id="ana") == []
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)


def test_a_passage_is_deleted_alone_by_its_note(memory):
    memory.add([LONG, THANKS], user_id="ana")
    before = snapshot(memory)
    first, last = passages(memory)
    decision = memory.delete(last.id, user_id="ana")
    assert [note.id for note in passages(memory)] == [first.id]
    assert "key" not in memory.get("then", user_id="ana").context
    assert memory.get("advice", user_id="ana").id == first.id
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)
    memory.delete(first.id, user_id="ana")
    assert "colony" not in passages(memory)[0].context
    assert memory.get("advice", user_id="ana").id == last.id
    assert memory.verify(user_id="ana") == []


def test_a_deleted_message_leaves_a_note_that_others_tell_too(memory):
    memory.add([LONG, {**LONG, "id": "again", "session": "t"}], user_id="ana")
    before = snapshot(memory)
    decision = memory.delete("again", user_id="ana")
    assert [[source.id for source in note.sources] for note in passages(memory)] == [["advice"]] * 2
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)
    assert memory.verify(user_id="ana") == []


def test_a_note_of_a_passage_that_is_updated_is_the_users_own_text(memory):
    memory.add([LONG, THANKS], user_id="ana")
    before = snapshot(memory)
    first, last = passages(memory)
    decision = memory.update(last.id, "The spare key is with the neighbour.", user_id="ana")
    assert texts(passages(memory)) == [first.text, "The spare key is with the neighbour."]
    assert "neighbour" in memory.context(WHERE, user_id="ana").text
    assert "blue oar" not in memory.context(WHERE, user_id="ana").text
    assert "".join(note.sources[0].text for note in passages(memory)) == ADVICE
    assert memory.update(last.id, "The spare key is with the neighbour.", user_id="ana").id == decision.id
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)
    assert memory.verify(user_id="ana") == []


# ---- time, waiting, and what is killed ----------------------------------------------------------


def test_a_long_message_waits_and_is_constructed_passage_by_passage(memory):
    (entry,) = memory.add(LONG, user_id="ana", wait=False).entries
    assert [(one.kind, one.status) for one in entry.passages] == [("defer", "pending")] * 2
    assert KEY in memory.search("boathouse", user_id="ana")[0].note.text
    assert [e.note for e in memory.process(user_id="ana", limit=1).entries] == [entry.notes[0]]
    assert [note.status for note in passages(memory)] == ["active", "pending"]
    (rest,) = memory.process(user_id="ana").entries
    assert (rest.source, rest.note, rest.kind in ("append", "link")) == ("advice", entry.notes[1], True)
    notes = [(note.id, note.context, note.keywords, [one.text for one in note.sources]) for note in passages(memory)]
    assert memory.verify(user_id="ana") == []
    with pytest.raises(UndoRefused):
        memory.undo(entry.decision, user_id="ana")
    memory.undo(entry.decision, user_id="ana", cascade=True)
    assert memory.stats(user_id="ana").sources == 0
    memory.add(LONG, user_id="ana")
    assert [
        (note.id, note.context, note.keywords, [one.text for one in note.sources]) for note in passages(memory)
    ] == notes


def test_the_memory_of_then_tells_the_passages_of_then(memory):
    memory.add(TALE, user_id="ana")
    then = passages(memory, "tale")[0].recorded_at
    told = texts(passages(memory, "tale"))
    memory.add({"role": "user", "text": MOVED, "time": "2024-06-01"}, user_id="ana")
    memory.delete(passages(memory, "tale")[0].id, user_id="ana")
    hits = memory.search("Where do I live?", user_id="ana", known_at=then)
    assert sorted(hit.note.text for hit in hits) == sorted(told)
    assert LIVES in [hit.note.text for hit in memory.search("Where do I live?", user_id="ana", as_of="2024-02-01")]
    assert LIVES not in [hit.note.text for hit in memory.search("Where do I live?", user_id="ana", as_of="2024-07-01")]


def test_a_message_of_many_passages_is_written_whole_or_not_at_all(memory, tenant):
    program = (
        "import os, signal, sys\n"
        "from memgraph_engine import Memory\n"
        "from memgraph_engine.graph import writes\n"
        "from tests.vectors import Remembering\n"
        "at = sys.argv[2]\n"
        "commit = writes.commit\n"
        "def killed(*given, **more):\n"
        "    if at == 'after': commit(*given, **more)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "from memgraph_engine.writing import transaction\n"
        "transaction.writes.commit = killed\n"
        "from tests.test_long_messages import LONG\n"
        "Memory.connect(tenant=sys.argv[1], embedder=Remembering()).add(LONG, user_id='ana')\n"
    )
    for at, held in (("before", 0), ("after", 2)):
        done = subprocess.run([sys.executable, "-c", program, tenant, at], check=False, env=dict(os.environ))
        assert done.returncode == -signal.SIGKILL
        assert len(passages(memory)) == held
        assert memory.verify(user_id="ana") == []
    assert memory.add(LONG, user_id="ana").repeats == 1


def test_a_client_with_another_limit_keeps_the_passages_as_they_are(memory, tenant, embedder):
    memory.add(LONG, user_id="ana")
    told = passages(memory)
    settings = memory.engine.settings.model_copy(update={"passage": 400})
    with Memory.connect(settings=settings, embedder=embedder) as other:
        assert other.add(LONG, user_id="ana").repeats == 1
        assert passages(other) == told


# ---- another text -----------------------------------------------------------------------------


def reworded(memory, new, old=ADVICE):
    """Add the long message, give it another text, and return its notes before and after."""
    memory.add([ASKED, {**LONG, "text": old}, THANKS], user_id="ana")
    before, were = snapshot(memory), passages(memory)
    decision = memory.update("advice", new, user_id="ana")
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0, "contexts are what their turns make of them"
    assert memory.update("advice", new, user_id="ana").id == decision.id, "said twice"
    now = passages(memory)
    assert "".join(note.sources[0].text for note in now) == new
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)
    assert memory.render(user_id="ana") == 0
    assert passages(memory) == [
        replace(note, recorded_at=back.recorded_at) for note, back in zip(were, passages(memory), strict=True)
    ]
    return were, now


def test_a_message_keeps_the_notes_of_what_it_still_says(memory):
    were, now = reworded(memory, ADVICE.replace("blue oar", "red oar"))
    assert [note.id for note in now] == [note.id for note in were]
    assert now[0].text == were[0].text
    assert "red oar" in now[1].text


def test_what_is_put_in_front_makes_no_other_passage_new(memory):
    first = f"{MITES} {MITES[:200]}\n\n{MITES[200:]} {BEES}"
    were, now = reworded(memory, f"{first}\n\n{ADVICE}")
    assert [note.id for note in now[-2:]] == [note.id for note in were]
    assert texts(now[-2:]) == texts(were)
    assert len(now) > 3


def test_what_is_gone_from_a_message_is_found_no_more(memory):
    were, now = reworded(memory, f"{MITES}\n\n{KEY}")
    assert [note.id for note in now] == [were[1].id]
    assert now[0].sources[0].span is None


def test_a_short_message_becomes_a_long_one_and_a_short_one_again(memory):
    were, now = reworded(memory, ADVICE, KEY)
    assert (len(were), len(now), now[0].id) == (1, 2, were[0].id)


def test_a_changed_end_is_what_the_next_turn_quotes(memory):
    memory.add([LONG, THANKS], user_id="ana")
    memory.update("advice", f"{ADVICE}\n\n{SYRUP}\n\n{BEES}", user_id="ana")
    assert "A colony in late summer" in memory.get("then", user_id="ana").context
    memory.update("advice", ADVICE.replace("blue oar", "red oar"), user_id="ana")
    assert "Against mites" in memory.get("then", user_id="ana").context
    memory.update("advice", "Ask your neighbour.", user_id="ana")
    assert memory.get("then", user_id="ana").context.endswith("[before: assistant: Ask your neighbour.]")
    assert memory.render(user_id="ana") == 0
    assert memory.verify(user_id="ana") == []
    undo_everything(memory)
    assert memory.stats(user_id="ana").sources == 0
    assert memory.verify(user_id="ana") == []


def test_a_passage_that_was_deleted_stays_so_and_one_of_the_users_own_text_too(memory):
    text = "\n\n".join([f"{BEES} {SYRUP}", f"{MITES} {BEES}", f"{SYRUP} {MITES}", KEY * 16])
    memory.add({**LONG, "text": text}, user_id="ana")
    first, second, third, *_ = passages(memory)
    memory.delete(first.id, user_id="ana")
    memory.update(second.id, "Against mites I ask Rui.", user_id="ana")
    memory.update("advice", f"{text}\n\nGood luck!", user_id="ana")
    assert texts(passages(memory))[:2] == ["Against mites I ask Rui.", third.text]
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0
    undo_everything(memory)
    assert memory.stats(user_id="ana").sources == 0


def test_a_note_that_others_tell_too_loses_what_is_gone(memory):
    memory.add([LONG, {**LONG, "id": "again", "session": "t", "time": "2024-09-01"}], user_id="ana")
    before, were = snapshot(memory), passages(memory)
    decision = memory.update("again", f"{BEES}\n\n{SYRUP}\n\n{KEY}", user_id="ana")
    now = passages(memory)
    assert [note.id for note in now] == [note.id for note in were]
    assert [[source.id for source in note.sources] for note in now] == [["advice", "again"], ["advice"]]
    assert texts(passages(memory, "again"))[1] == KEY
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)


def test_a_note_that_loses_its_passage_to_an_update_quotes_what_now_stands_before_its_other_source(memory):
    said = {"role": "user", "session": "s"}
    memory.add([{**said, "id": "advice", "text": f"{BEES} {SYRUP}\n\n{KEY}"}, {**said, "text": KEY}], user_id="ana")
    *_, note = passages(memory)
    assert len(note.sources) == 2
    memory.update("advice", f"{BEES} {SYRUP}\n\nAsk Rui.", user_id="ana")
    context = memory.get(note.id, user_id="ana").context
    assert (context.count(KEY), context.partition("[before: ")[2]) == (1, "ana: Ask Rui.]")
    assert memory.render(user_id="ana") == 0


def test_what_was_true_once_stays_so_when_its_message_says_it_no_more(memory):
    memory.add(TALE, user_id="ana")
    *_, told = passages(memory, "tale")
    memory.add({"role": "user", "text": MOVED, "time": "2024-06-01"}, user_id="ana")
    memory.update("tale", f"{BEES} {SYRUP}\n\n{MITES}", user_id="ana")
    assert memory.history(told.id, user_id="ana")[-1].note.status == "superseded"
    hits = memory.search("Where do I live?", user_id="ana", as_of="2024-02-01")
    assert [hit.note.sources[0].text for hit in hits if hit.note.id == told.id] == [LIVES]
    assert memory.verify(user_id="ana") == []


def test_a_passage_that_was_replaced_is_brought_back_as_long_as_its_message_says_it(memory):
    memory.add(TALE, user_id="ana")
    *_, told = passages(memory, "tale")
    moved = memory.add({"role": "user", "text": MOVED, "time": "2024-06-01"}, user_id="ana").entries[0].note
    gone = memory.update("tale", f"{BEES} {SYRUP}\n\n{MITES}", user_id="ana")
    with pytest.raises(UndoRefused, match="its message no longer"):
        memory.untie(told.id, moved, user_id="ana")
    memory.undo(gone.id, user_id="ana")
    memory.update("tale", f"{MITES}\n\n{TALE['text']}", user_id="ana")
    before = snapshot(memory)
    decision = memory.untie(told.id, moved, user_id="ana")
    assert (passages(memory, "tale")[-1].id, passages(memory, "tale")[-1].text) == (told.id, LIVES)
    assert passages(memory, "tale")[-1].sources[0].part == 2
    assert memory.render(user_id="ana") == 0
    assert memory.verify(user_id="ana") == []
    memory.undo(decision.id, user_id="ana")
    same(snapshot(memory), before)


def test_an_update_while_it_waits_waits_too(memory):
    memory.add(LONG, user_id="ana", wait=False)
    were = passages(memory)
    memory.update("advice", f"{MITES} {SYRUP}\n\n{ADVICE}", user_id="ana")
    assert {note.status for note in passages(memory)} == {"pending"}
    assert [note.id for note in passages(memory)][1:] == [note.id for note in were]
    assert memory.process(user_id="ana", limit=10).count("defer") == 0
    assert {note.status for note in passages(memory)} == {"active"}
    assert all(note.keywords for note in passages(memory))
    assert memory.verify(user_id="ana") == []
    undo_everything(memory)
    assert memory.stats(user_id="ana").sources == 0


def test_the_memory_of_before_an_update_tells_the_text_of_then(memory):
    memory.add(LONG, user_id="ana")
    then, told = passages(memory)[0].recorded_at, sorted(texts(passages(memory)))
    memory.update("advice", f"{KEY} Or did.\n\n{ADVICE}", user_id="ana")
    hits = memory.search(WHERE, user_id="ana", known_at=then)
    assert sorted(hit.note.text for hit in hits) == told
    assert all(source.text.strip() == hit.note.text for hit in hits for source in hit.note.sources)
    assert next(version.note.text for version in memory.history("advice", user_id="ana")) in told


def test_what_was_decided_before_an_update_is_undone_with_it_alone(memory):
    memory.add(TALE, user_id="ana")
    (moved,) = memory.add({"role": "user", "text": MOVED, "time": "2024-06-01"}, user_id="ana").entries
    updated = memory.update("tale", f"{TALE['text']} It is hot there.", user_id="ana")
    with pytest.raises(UndoRefused, match=updated.id):
        memory.undo(moved.decision, user_id="ana")
    memory.undo(moved.decision, user_id="ana", cascade=True)
    assert texts(passages(memory, "tale"))[-1] == LIVES
    assert memory.verify(user_id="ana") == []


def test_a_file_of_messages_that_changed_updates_them_passage_by_passage(memory, tmp_path):
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(f"{json.dumps(message)}\n" for message in (ASKED, LONG, THANKS)))
    assert memory.ingest(file, user_id="ana").inputs == 3
    were = passages(memory)
    changed = {**LONG, "text": ADVICE.replace("blue oar", "red oar")}
    file.write_text("".join(f"{json.dumps(message)}\n" for message in (ASKED, changed, THANKS)))
    done = memory.ingest(file, user_id="ana", update=True)
    assert (done.updated, done.repeats, done.faults) == (1, 2, ())
    assert [note.id for note in passages(memory)] == [note.id for note in were]
    assert "red oar" in memory.context(WHERE, user_id="ana").text


# ---- whatever is done -------------------------------------------------------------------------

PARTS = [
    "The ferry to Madeira leaves at noon from the old harbour, and it takes the bicycles of those who come early.",
    "Our beekeeper sold two hives to the monks, who feed them with syrup and count the mites on the board.",
    "Lisbon has yellow trams, which rattle past the bakery all night and stop where nobody waits for them any more.",
    "I live in Lisbon.",
    "I no longer live in Lisbon, I moved to Faro.",
    "Thanks!",
    "The spare key hangs behind the blue oar in the boathouse, where the tide comes in below the floor at full moon.",
]
said = st.lists(st.integers(0, len(PARTS) - 1), min_size=1, max_size=5)
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["add", "defer", "other"]), said),
        st.tuples(st.just("process")),
        st.tuples(st.sampled_from(["reword", "reword", "update"]), st.integers(0, 9), said),
        st.tuples(st.sampled_from(["delete", "withdraw", "undo"]), st.integers(0, 9)),
    ),
    min_size=1,
    max_size=6,
)


SAYS = ("add", "defer", "other", "reword", "update")


def take(memory, step, number):
    """Do a step; what can't be done is refused, and changes nothing."""
    kind, *given = step
    text = "\n\n".join(PARTS[part] for part in given[-1]) if kind in SAYS else ""
    if kind in ("add", "defer", "other"):
        message = {"id": f"m{number}", "text": text, "speaker": "Ana", "session": "t" if kind == "other" else "s"}
        memory.add(message, user_id="ana", wait=kind != "defer")
    elif kind == "process":
        memory.process(user_id="ana")
    elif kind == "undo":
        open_ones = [d for d in memory.decisions(user_id="ana") if not d.undone_by and d.kind not in ("undo", "render")]
        if open_ones:
            memory.undo(open_ones[given[0] % len(open_ones)].id, cascade=True, user_id="ana")
    elif notes := list(memory.get_all(user_id="ana")):
        note = notes[given[0] % len(notes)]
        source = note.sources[given[0] % len(note.sources)].id
        if kind in ("reword", "update"):
            memory.update(source if kind == "reword" else note.id, text, user_id="ana")
        else:
            memory.delete(source if kind == "withdraw" else note.id, user_id="ana")


def check_history(memory, script):
    """Do a script on long messages, and take it back: the graph is sound at each step, and in the end as before."""
    short = memory.engine.settings.model_copy(update={"tenant": f"test-{uuid4().hex}", "passage": 200})
    mine = Memory(replace(memory.engine, settings=short))
    try:
        talk = ["\n\n".join(PARTS[:2]), "They do, all night.", "\n\n".join(PARTS[:4])]
        mine.add([{"text": text, "session": "s", "speaker": "Bo"} for text in talk], user_id="ana")
        first = {decision.id for decision in mine.decisions(user_id="ana")}
        before = snapshot(mine)
        for number, step in enumerate(script):
            take(mine, step, number)
            assert mine.verify(user_id="ana") == []
            assert mine.render(user_id="ana") == 0, "contexts are what their turns make of them"
        made = mine.decisions(user_id="ana", limit=1000)
        for decision in made:
            if decision.id not in first and decision.kind != "undo" and not decision.undone_by:
                mine.undo(decision.id, user_id="ana")  # in reverse order none stands on another
                assert mine.render(user_id="ana") == 0
        assert mine.verify(user_id="ana") == []
        if not [one for one in made if one.id in first and one.undone_by]:
            same(snapshot(mine), before)
    finally:
        purge_tenant(memory.engine.db, short.tenant)


@pytest.mark.timeout(900)
@settings(max_examples=1, suppress_health_check=list(HealthCheck))
@given(steps)
# two passages join one note, and their message is reworded and worded as before
@example([("defer", [6, 0, 0, 4, 0]), ("add", [0]), ("add", [0]), ("process",), ("add", [0]), ("reword", 5, [0])])
def test_whatever_is_done_to_long_messages_can_be_undone(memory, script):
    check_history(memory, script)


@pytest.mark.long
@pytest.mark.timeout(7200)
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(steps)
def test_whatever_is_done_to_long_messages_can_be_undone_in_five_hundred_cases(memory, script):
    check_history(memory, script)
