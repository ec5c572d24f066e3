"""A message can be stored at once and constructed later: durable, found by its words, constructed exactly once."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

from memgraph_engine.errors import (
    ConstructionFailed,
    EmbeddingError,
    InvalidInput,
    ModelRefused,
    NotFound,
    UndoRefused,
)
from memgraph_engine.testing import ScriptedChat, temporary_memory
from tests.models import extracted, judged, memory_with, small_talk, written
from tests.snapshots import same, snapshot
from tests.test_writes import messages


def graph(memory, user):
    """Everything that does not depend on when it was written."""
    notes = {
        note.sources[0].id: (note.context, note.seq, note.session, note.keywords, note.status)
        for note in memory.get_all(user_id=user)
    }
    stats = memory.stats(user_id=user)
    return notes, (stats.notes, stats.sources, stats.sessions, stats.keywords, stats.pairs)


FERRY = {"id": "f", "text": "The ferry to Madeira leaves at noon.", "speaker": "Ana"}
FERRY_AGAIN = {"id": "g", "text": "The ferry to Madeira leaves at noon!", "speaker": "Ana"}
HIVES = {"id": "h", "text": "Our beekeeper sold two hives last Friday.", "speaker": "Bo", "time": "2023-05-08T10:00"}
TALK = [
    {"id": "a", "speaker": "Ana", "session": "s", "text": "I live in Lisbon."},
    {"id": "b", "speaker": "Bo", "session": "s", "text": "Haha, thanks!"},
    {"id": "c", "speaker": "Bo", "session": "s", "text": "The yellow trams rattle past the bakery in Lisbon."},
    {"id": "d", "speaker": "Ana", "session": "s", "text": "They do, all night."},
    {"id": "e", "speaker": "Ana", "session": "s", "text": "I no longer live in Lisbon, I moved to Madeira."},
    {"id": "f", "speaker": "Bo", "session": "s", "text": "The yellow trams rattle past the bakery in Lisbon."},
    {"id": "g", "speaker": "Bo", "session": "t", "text": "Past the bakery in Lisbon the yellow trams rattle."},
]


def statuses(memory):
    return {source.id: note.status for note in memory.get_all(user_id="ana") for source in note.sources}


def test_a_pending_note_is_durable_and_found_at_once_by_its_words(memory):
    memory.add(HIVES, user_id="ana")
    receipt = memory.add(FERRY, user_id="ana", wait=False)
    (entry,) = receipt.entries
    assert (entry.kind, entry.status, receipt.added) == ("defer", "pending", 1)
    note = memory.get("f", user_id="ana")
    assert (note.status, note.keywords, note.context) == ("pending", (), "Ana: The ferry to Madeira leaves at noon.")
    hits = memory.search("When does the ferry leave?", user_id="ana", explain=True)
    (hit,) = [hit for hit in hits if "lexical" in hit.explanation.proposed_by]
    assert (hit.note.id, hit.note.status, hit.similarity) == (entry.note, "pending", 0.0)
    assert hit.explanation.proposed_by == ("lexical",)
    assert hit.explanation.channels["dense_raw"].weighted == 0.0
    near = memory.search("When does the ferry leave?", user_id="ana", min_similarity=0.1)
    assert entry.note not in [hit.note.id for hit in near]
    assert [decision.kind for decision in memory.decisions(user_id="ana")] == ["defer", "append"]
    assert memory.verify(user_id="ana") == []


def test_pending_notes_do_not_change_how_the_others_compare(memory):
    talk = messages(8)
    memory.add_many(talk, user_id="ana")
    before = memory.search("Who sold the hives by the bakery?", user_id="ana", explain=True)
    memory.add({"id": "p", "text": "A hive."}, user_id="ana", wait=False)
    hits = memory.search("Who sold the hives by the bakery?", user_id="ana", explain=True)
    assert {h.note.id: h.explanation.channels["dense_raw"] for h in before}.items() <= {
        h.note.id: h.explanation.channels["dense_raw"] for h in hits
    }.items()


def test_one_pending_note_alone_is_found(memory):
    memory.add(FERRY, user_id="ana", wait=False)
    assert memory.search("ferry", user_id="ana")[0].score > 0


def test_processing_constructs_every_note_once(memory):
    memory.add_many([FERRY, HIVES], user_id="ana", wait=False)
    receipt = memory.process(user_id="ana")
    assert [entry.kind for entry in receipt.entries] == ["append", "append"]
    assert set(statuses(memory).values()) == {"active"}
    assert memory.get("h", user_id="ana").keywords
    assert memory.search("insects", user_id="ana")[0].similarity > 0
    assert memory.process(user_id="ana").entries == ()
    assert memory.verify(user_id="ana") == []
    assert [version.decision.kind for version in memory.history("f", user_id="ana")] == ["defer", "append"]


def test_a_limit_processes_so_many_and_no_more(memory):
    memory.add_many(messages(5), user_id="ana", wait=False)
    assert [entry.source for entry in memory.process(user_id="ana", limit=2).entries] == ["m0", "m1"]
    assert memory.stats(user_id="ana").notes == {"active": 2, "pending": 3}
    with pytest.raises(InvalidInput, match="limit"):
        memory.process(user_id="ana", limit=0)


def test_there_is_nothing_to_process_in_a_memory_that_is_not_there(memory):
    assert memory.process(user_id="nobody").entries == ()


def test_deferred_or_not_the_graph_is_the_same(memory):
    memory.add_many(TALK[:4], user_id="ana", wait=False)
    memory.add_many(TALK[4:], user_id="ana", wait=False)
    kinds = {entry.source: entry.kind for entry in memory.process(user_id="ana").entries}
    with temporary_memory(embedder=memory.engine.embedder) as other:
        at_once = {entry.source: entry.kind for entry in other.add_many(TALK, user_id="ana").entries}
        assert kinds == {source: kind for source, kind in at_once.items() if source != "b"}
        assert at_once["b"] == "discard"
        assert {"merge", "supersede", "reinforce"} <= set(kinds.values())
        assert graph(memory, "ana")[0] == graph(other, "ana")[0]
        ours, theirs = memory.stats(user_id="ana"), other.stats(user_id="ana")
        assert (ours.notes, ours.sources, ours.keywords, ours.pairs) == (
            theirs.notes, theirs.sources, theirs.keywords, theirs.pairs,
        )  # fmt: skip
    assert memory.verify(user_id="ana") == []


def test_deferred_batches_are_processed_in_the_order_in_which_they_came(memory):
    talk = messages(60)
    for start in range(0, 60, 20):
        memory.add_many(talk[start : start + 20], user_id="ana", wait=False)
    assert [e.source for e in memory.process(user_id="ana").entries] == [message["id"] for message in talk]


def test_an_event_is_valid_from_its_day_when_it_is_constructed_too(memory):
    memory.add(HIVES, user_id="ana", wait=False)
    memory.process(user_id="ana")
    assert f"{memory.get('h', user_id='ana').valid_from:%Y-%m-%d}" == "2023-05-05"


def test_what_was_pending_is_known_as_pending(memory):
    memory.add(FERRY, user_id="ana", wait=False)
    then = memory.get("f", user_id="ana").recorded_at
    memory.process(user_id="ana")
    (hit,) = memory.search("ferry", user_id="ana", known_at=then)
    assert (hit.note.status, hit.similarity) == ("pending", 0.0)


def test_a_repeat_of_a_pending_message_is_known(memory):
    memory.add(FERRY, user_id="ana", wait=False)
    for wait in (True, False):
        (entry,) = memory.add(FERRY, user_id="ana", wait=wait).entries
        assert (entry.kind, entry.status) == ("repeat", "pending")


# ---- what merges, and undo ------------------------------------------------------------------------


def test_a_pending_note_that_merges_into_another_keeps_its_source(memory):
    memory.add(FERRY, user_id="ana")
    memory.add(FERRY_AGAIN, user_id="ana", wait=False)
    pending = memory.get("g", user_id="ana").id
    before = snapshot(memory)
    (entry,) = memory.process(user_id="ana").entries
    assert entry.kind == "merge"
    note = memory.get("g", user_id="ana")
    assert note.id == entry.note == memory.get("f", user_id="ana").id != pending
    assert {source.text for source in note.sources} == {FERRY["text"], FERRY_AGAIN["text"]}
    assert memory.verify(user_id="ana") == []
    memory.undo(entry.decision, user_id="ana")
    same(snapshot(memory), before)
    assert (memory.get("g", user_id="ana").status, memory.get("g", user_id="ana").id) == ("pending", pending)
    assert memory.process(user_id="ana").entries[0].kind == "merge"


def test_undoing_a_construction_gives_back_the_pending_note(memory):
    memory.add_many(TALK, user_id="ana", wait=False)
    before = snapshot(memory)
    memory.process(user_id="ana")
    for decision in memory.decisions(user_id="ana", limit=100):
        current = next(d for d in memory.decisions(user_id="ana", limit=100) if d.id == decision.id)
        if decision.kind not in ("defer", "undo", "discard") and not current.undone_by:
            memory.undo(decision.id, cascade=True, user_id="ana")
    same(snapshot(memory), before)
    assert set(statuses(memory).values()) == {"pending"}
    assert memory.verify(user_id="ana") == []
    assert len(memory.process(user_id="ana").entries) == 6


@pytest.mark.parametrize("first", [None, FERRY_AGAIN])
def test_undoing_the_deferral_removes_the_note_and_its_source(memory, first):
    memory.add({"id": "x", "text": "Tides turn."}, user_id="ana")
    if first:
        memory.add(first, user_id="ana")
    before = snapshot(memory)
    (entry,) = memory.add(FERRY, user_id="ana", wait=False).entries
    memory.process(user_id="ana")
    with pytest.raises(UndoRefused):
        memory.undo(entry.decision, user_id="ana")
    memory.undo(entry.decision, cascade=True, user_id="ana")
    same(snapshot(memory), before)
    with pytest.raises(NotFound):
        memory.get("f", user_id="ana")
    assert memory.verify(user_id="ana") == []


# ---- changes in between ---------------------------------------------------------------------------


def test_a_pending_note_can_be_updated_and_stays_pending(memory):
    memory.add_many(TALK[2:4], user_id="ana", wait=False)
    memory.update("c", "Porto has a bakery.", user_id="ana")
    note = memory.get("c", user_id="ana")
    assert (note.status, note.context) == ("pending", "Bo: Porto has a bakery.")
    assert "Porto" in memory.get("d", user_id="ana").context
    assert memory.verify(user_id="ana") == []
    memory.process(user_id="ana")
    assert (memory.get("c", user_id="ana").status, memory.get("c", user_id="ana").context) == (
        "active", "Bo: Porto has a bakery.",
    )  # fmt: skip
    assert "trams" not in memory.get("d", user_id="ana").context
    assert memory.verify(user_id="ana") == []


@pytest.mark.parametrize("wait", [True, False])
def test_an_update_tells_of_another_time(memory, wait):
    memory.add(HIVES, user_id="ana", wait=wait)
    memory.update("h", "Our beekeeper sold two hives in 2019.", user_id="ana")
    memory.process(user_id="ana")
    assert f"{memory.get('h', user_id='ana').valid_from:%Y-%m-%d}" == "2019-01-01"


def test_a_deleted_pending_note_is_not_constructed_and_can_come_back(memory):
    memory.add_many(TALK[2:4], user_id="ana", wait=False)
    decision = memory.delete("c", user_id="ana")
    assert memory.search("trams", user_id="ana") == []
    assert [entry.source for entry in memory.process(user_id="ana").entries] == ["d"]
    assert "trams" not in memory.get("d", user_id="ana").context
    memory.undo(decision.id, user_id="ana")
    assert memory.get("c", user_id="ana").status == "pending"
    assert [entry.source for entry in memory.process(user_id="ana").entries] == ["c"]
    assert memory.verify(user_id="ana") == []


def test_all_pending_notes_can_be_deleted(memory):
    memory.add_many(messages(3), user_id="ana", wait=False)
    memory.delete_all(user_id="ana")
    assert memory.process(user_id="ana").entries == ()
    assert memory.verify(user_id="ana") == []


class Interrupting(ScriptedChat):
    """Does something to the memory while it is asked."""

    def chat(self, messages, **given):
        if self.left and self.then:
            self.then()
            self.then = None
        return super().chat(messages, **given)


def test_a_pending_note_updated_while_a_model_is_asked_is_asked_about_again(tenant, embedder):
    chat = Interrupting([extracted("The ferry leaves at noon."), extracted("The ferry leaves at two.")])
    with memory_with(tenant, embedder, chat, only=["extraction"]) as (memory, _):
        memory.add(FERRY, user_id="ana", wait=False)
        chat.then = lambda: memory.update("f", "The ferry leaves at two.", user_id="ana")
        memory.process(user_id="ana")
        assert memory.get("f", user_id="ana").context == "The ferry leaves at two."
        assert "at two" in chat.calls[1].text


def test_a_pending_note_deleted_while_a_model_is_asked_stays_deleted(tenant, embedder):
    chat = Interrupting([extracted("The ferry leaves at noon.")])
    with memory_with(tenant, embedder, chat, only=["extraction"]) as (memory, _):
        memory.add(FERRY, user_id="ana", wait=False)
        chat.then = lambda: memory.delete("f", user_id="ana")
        assert memory.process(user_id="ana").entries == ()
        with pytest.raises(NotFound):
            memory.get("f", user_id="ana")


# ---- with models ----------------------------------------------------------------------------------


def test_models_are_asked_when_it_is_processed_and_not_before(tenant, embedder):
    answers = [extracted("The ferry leaves.", "Ferry, at noon."), judged("same"), written("The ferry leaves at noon.")]
    with memory_with(tenant, embedder, answers) as (memory, chat):
        memory.add_many([FERRY, FERRY_AGAIN], user_id="ana", wait=False)
        assert chat.calls == []
        assert memory.process(user_id="ana").cost.calls == 3
        note = memory.get("g", user_id="ana")
        assert (note.context, len(note.sources)) == ("The ferry leaves at noon.", 2)
        assert memory.verify(user_id="ana") == []


def test_what_the_extractor_drops_leaves_only_its_source_and_undo_gives_it_back(tenant, embedder):
    with memory_with(tenant, embedder, [extracted(small_talk())]) as (memory, _):
        memory.add({"id": "x", "text": "Lovely to see you!"}, user_id="ana", wait=False)
        before = snapshot(memory)
        (entry,) = memory.process(user_id="ana").entries
        assert (entry.kind, entry.note, memory.stats(user_id="ana").sources) == ("discard", "", 1)
        assert list(memory.get_all(user_id="ana")) == []
        assert memory.verify(user_id="ana") == []
        memory.undo(entry.decision, user_id="ana")
        same(snapshot(memory), before)


def test_a_model_that_fails_does_not_keep_a_note_pending(tenant, embedder):
    with memory_with(tenant, embedder, [ModelRefused("No.")], only=["extraction"]) as (memory, _):
        memory.add(FERRY, user_id="ana", wait=False)
        assert memory.process(user_id="ana").fallbacks == ("Extraction was done without a model: No.",)
        assert memory.get("f", user_id="ana").status == "active"


class Choking:
    """An embedder that fails on texts with a word in them; `calls` counts how often it is asked."""

    def __init__(self, inner, word):
        self.name, self._inner, self._word, self.calls = inner.name, inner, word, 0

    def embed_documents(self, texts):
        self.calls += 1
        if any(self._word in text for text in texts):
            raise ValueError("too long for the model")
        return self._inner.embed_documents(texts)

    def embed_query(self, text):
        return self._inner.embed_query(text)


def test_a_note_that_cannot_be_constructed_keeps_none_of_the_others_pending(tenant, embedder, caplog):
    with memory_with(tenant, Choking(embedder, "xylophone"), only=[]) as (memory, _):
        talk = messages(20)
        memory.add_many([{"id": "bad", "text": "My xylophone is red."}, *talk], user_id="ana", wait=False)
        assert len(memory.process(user_id="ana").entries) == len(talk)
        assert "too long for the model" in caplog.text
        with pytest.raises(ConstructionFailed, match=r"too long for the model.* stays pending .* `update`"):
            memory.process(user_id="ana")
        assert "pending" in [hit.note.status for hit in memory.search("xylophone", user_id="ana")]
        memory.update("bad", "My drum is red.", user_id="ana")
        assert [entry.source for entry in memory.process(user_id="ana").entries] == ["bad"]
        assert memory.verify(user_id="ana") == []


def test_an_embedder_that_is_down_is_not_asked_about_every_note(tenant, embedder):
    choking = Choking(embedder, "")
    with memory_with(tenant, choking, only=[]) as (memory, _):
        memory.add_many(messages(40), user_id="ana", wait=False)
        with pytest.raises(EmbeddingError, match="too long for the model"):
            memory.process(user_id="ana")
        assert choking.calls < 40
        assert memory.stats(user_id="ana").notes["pending"] == 40


# ---- several processes, and one that dies -----------------------------------------------------------

PROCESS = """
import os, sys
from memgraph_engine import Memory, Settings
from tests.vectors import Remembering
settings = Settings.load(ingest_batch=5)
with Memory.connect(tenant=os.environ["TENANT"], embedder=Remembering(), settings=settings) as memory:
    print("ready", flush=True)
    while entries := memory.process(user_id="ana", limit=5).entries:
        print(" ".join(entry.source for entry in entries), flush=True)
"""


def processing(memory, stack):
    environment = {**os.environ, "TENANT": memory.engine.settings.tenant}
    started = subprocess.Popen([sys.executable, "-c", PROCESS], env=environment, stdout=subprocess.PIPE, text=True)
    return stack.enter_context(started)


@pytest.mark.slow
def test_processes_at_once_construct_each_note_once(memory):
    talk = messages(40)
    memory.add_many(talk, user_id="ana", wait=False)
    with ExitStack() as stack:
        started = [processing(memory, stack) for _ in range(4)]
        outputs = [process.communicate(timeout=240)[0] for process in started]
        assert [process.returncode for process in started] == [0] * 4
    done = [source for output in outputs for line in output.splitlines()[1:] for source in line.split()]
    assert sorted(done) == sorted(message["id"] for message in talk)
    with temporary_memory(embedder=memory.engine.embedder) as other:
        other.add_many(talk, user_id="ana")
        assert graph(memory, "ana") == graph(other, "ana")
    assert memory.verify(user_id="ana") == []


def test_a_process_killed_in_the_middle_leaves_the_rest_to_the_next(memory):
    talk = messages(40)
    memory.add_many(talk, user_id="ana", wait=False)
    with ExitStack() as stack:
        process = processing(memory, stack)
        process.stdout.readline()
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    notes = memory.stats(user_id="ana").notes
    assert notes["active"] >= 5
    assert notes.get("pending", 0) > 0
    assert memory.verify(user_id="ana") == []
    memory.process(user_id="ana")
    with temporary_memory(embedder=memory.engine.embedder) as other:
        other.add_many(talk, user_id="ana")
        assert graph(memory, "ana") == graph(other, "ana")
    assert memory.verify(user_id="ana") == []
