"""A memory with a cap sums up its coldest notes: nothing is lost, and all of it comes back whole."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine import InvalidInput, Memory, NotFound, Settings, UndoRefused
from memgraph_engine.testing import ScriptedChat
from memgraph_engine.worker.work import Worker
from tests.clocks import Clock
from tests.snapshots import same, snapshot
from tests.test_erasure import everything_told
from tests.test_lifecycle import DAY

BOAT = [
    "I bought an old boat in Porto. It was raining, and we laughed a lot that day.",
    "The boat has two masts. They are as white as snow, and they look lovely in the sun.",
    "I don't sail the boat in winter. It is much too cold for that, as you can imagine.",
    "Bruno paid 250 euros for the boat's new anchor. He is so kind, and I am so grateful.",
]
OWNER = {"user_id": "ana"}
OLDEST = {"cap": 4, "target": 0.75, "information_weight": 0}


@pytest.fixture
def memory(tenant, embedder, clock):
    """One that has a cap, and of which the oldest leave first, whatever they tell."""
    settings = Settings.load(lifecycle=OLDEST)
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as one:
        yield one


def tell(memory, clock, texts, name="b", **fields):
    """Add messages, an hour apart, and let two days pass."""
    said = [{"id": f"{name}{n}", "text": text, "speaker": "Ana", "session": "s"} for n, text in enumerate(texts)]
    told = [{**one, "time": clock.now + timedelta(hours=n), **fields} for n, one in enumerate(said)]
    clock.later(timedelta(hours=len(told)))
    memory.add_many(told, **OWNER)
    clock.later(2 * DAY)


def evicted(memory, clock, texts=(*BOAT, "Our beekeeper sold two hives."), **fields):
    """Tell it, and evict: the summary, what it sums, and the decision."""
    tell(memory, clock, texts, **fields)
    done = memory.evict(**OWNER)
    (decision,) = done.decisions
    return memory.get(decision.note, **OWNER), decision, done


@pytest.fixture(scope="module")
def standing(kept):
    """A memory whose coldest notes were evicted, for tests that only read: it, and what `evicted` gives."""
    clock, done = Clock(), []
    settings = Settings.load(lifecycle=OLDEST)
    memory = kept(lambda memory: done.extend(evicted(memory, clock)), clock=clock, settings=settings)
    return memory, *done


def test_by_default_nothing_is_evicted(tenant, embedder, clock):
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory:
        tell(memory, clock, BOAT)
        before = snapshot(memory)
        done = memory.evict(**OWNER)
        assert (done.notes, done.left, done.cap, done.decisions) == (0, 4, 0, ())
        same(snapshot(memory), before)


def test_the_coldest_notes_are_summed_up_down_to_the_target(memory, clock):
    summary, decision, done = evicted(memory, clock)
    assert (done.notes, done.summaries, done.left, done.cap) == (3, 1, 3, 4)
    assert [one.id for one in summary.sources] == ["b0", "b1", "b2"]
    assert (decision.kind, decision.sources) == ("consolidate", ())
    assert {note.status for note in (memory.history(one, **OWNER)[-1].note for one in summary.sums)} == {"archived"}
    assert memory.stats(**OWNER).notes == {"active": 3, "archived": 3}
    assert memory.verify(**OWNER) == []
    assert memory.render(**OWNER) == 0
    assert memory.evict(**OWNER).notes == 0


def test_what_tells_little_leaves_first_and_summaries_last(tenant, embedder, clock):
    settings = Settings.load(lifecycle={"cap": 6, "target": 0.85, "cluster": 2})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        little = ["That is so nice, I like it.", "Yes, that is so nice to see.", "It is nice, I like to see that."]
        tell(memory, clock, [BOAT[0], *little, *BOAT[1:3], "I like that, yes, so nice."])
        clock.later(90 * DAY)
        memory.evict(**OWNER)
        assert {"b1", "b2", "b3", "b6"} <= set(sources_of_summaries(memory))
        tell(memory, clock, ["It is so nice to like that.", "Yes, I see it is nice.", "I like it, so nice."], "c")
        clock.later(90 * DAY)
        memory.evict(**OWNER)
        assert max(len(note.sums) for note in memory.get_all(**OWNER)) <= 2


def sources_of_summaries(memory):
    return [source.id for note in memory.get_all(**OWNER) if note.sums for source in note.sources]


def test_a_summary_tells_what_counts_and_is_found_by_it(standing):
    memory, summary, *_ = standing
    assert all(word in summary.context for word in ("Porto", "two masts", "don't sail"))
    assert "laughed" not in summary.context
    assert summary.raw[0].startswith("Ana: I bought an old boat in Porto.")
    assert summary.raw[0].endswith("on 1 May, 2024)")
    hit = memory.search("How many masts does the boat have?", **OWNER)[0]
    assert hit.note.id == summary.id
    assert hit.sources[0].id == "b1"
    assert {one.id for one in hit.sources} == {"b0", "b1", "b2"}


def test_a_summary_has_the_span_of_what_it_sums_and_its_class(memory, clock):
    summary, *_ = evicted(memory, clock, policy="ephemeral", expires="2030-01-01")
    said = [one.said_at for one in summary.sources]
    assert (summary.said_at, summary.valid_from) == (max(said), min(said))
    assert (summary.policy, summary.expires_at.year) == ("ephemeral", 2030)
    assert (summary.speaker, summary.session) == ("Ana", "s")


def test_a_context_tells_a_summary_with_the_span_of_its_days(memory, clock):
    for n, text in enumerate(BOAT):
        said = {"id": f"b{n}", "text": text, "speaker": "Ana", "session": "s", "time": f"2024-0{n + 1}-01"}
        memory.add(said, **OWNER)
    memory.add("Our beekeeper sold two hives.", **OWNER)
    clock.later(3 * DAY)
    memory.evict(**OWNER)
    context = memory.context("How many masts does the boat have?", **OWNER)
    (one,) = [one for one in context.entries if "two masts" in one.line]
    assert re.match(r"\[\d\] 2024-0\d-01 \(\w+\) to 2024-0\d-01 \(\w+\)( \([^)]*\))?: Ana: ", one.line)
    assert len(one.sources) > 1


def test_a_source_of_what_was_evicted_leads_to_the_summary(standing):
    memory, summary, decision, _ = standing
    assert memory.get("b1", **OWNER).id == summary.id
    assert memory.source("b1", **OWNER).text == BOAT[1]
    assert memory.explain("b1", **OWNER).note.id == summary.id
    with pytest.raises(NotFound, match="archived"):
        memory.get(summary.sums[0], **OWNER)
    story = memory.explain(summary.sums[0], **OWNER)
    assert [one.kind for one in story.decisions][-1] == "consolidate"
    assert [version.note.status for version in memory.history(summary.sums[0], **OWNER)][-2:] == ["active", "archived"]
    assert [version.decision.id for version in memory.history(summary.id, **OWNER)] == [decision.id]
    assert "b1" in [one.id for one in memory.history(summary.id, **OWNER)[0].note.sources]


def test_a_repeat_of_what_was_evicted_is_one(memory, clock):
    summary, *_ = evicted(memory, clock)
    at = memory.source("b1", **OWNER).said_at
    entry = memory.add({"id": "b1", "text": BOAT[1], "speaker": "Ana", "session": "s", "time": at}, **OWNER).entries[0]
    assert (entry.kind, entry.note, entry.status) == ("repeat", summary.id, "active")


def test_archived_notes_are_found_by_their_words_if_asked_for(standing):
    memory, summary, *_ = standing
    question = "Who laughed in the rain?"
    assert all(hit.note.status == "active" for hit in memory.search(question, **OWNER))
    hits = memory.search(question, **OWNER, archived=True)
    assert "archived" in {hit.note.status for hit in hits}
    assert any("laughed" in hit.note.context for hit in hits)
    assert summary.id in {hit.note.id for hit in hits}
    with pytest.raises(InvalidInput, match="archived"):
        memory.search(question, **OWNER, archived="yes")


def test_an_eviction_is_undone_whole(memory, clock):
    tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
    before = snapshot(memory)
    done = memory.evict(**OWNER)
    for decision in done.decisions:
        memory.undo(decision.id, **OWNER)
    same(snapshot(memory), before)
    assert memory.verify(**OWNER) == []
    again = memory.evict(**OWNER)  # what came back a moment ago is not taken out again
    told = {source.id for one in again.decisions for source in memory.get(one.note, **OWNER).sources}
    assert told == {"b3", "b4"}
    memory.undo(again.decisions[0].id, **OWNER)
    clock.later(2 * DAY)
    assert memory.evict(**OWNER).notes == 3
    assert memory.verify(**OWNER) == []


def test_one_note_comes_back_and_its_summary_is_made_anew(memory, clock):
    summary, decision, _ = evicted(memory, clock)
    before = snapshot(memory)
    restored = memory.restore("b1", **OWNER)
    assert memory.get("b1", **OWNER).raw[0].startswith(f"Ana: {BOAT[1]}")
    after = memory.get(summary.id, **OWNER)
    assert [one.id for one in after.sources] == ["b0", "b2"]
    assert "masts" not in after.context
    assert "don't sail" in after.context
    assert memory.verify(**OWNER) == []
    assert memory.render(**OWNER) == 0
    with pytest.raises(UndoRefused):
        memory.undo(decision.id, **OWNER)
    memory.undo(restored.id, **OWNER)
    same(snapshot(memory), before)
    assert memory.verify(**OWNER) == []
    memory.undo(decision.id, **OWNER)
    assert memory.get("b1", **OWNER).status == "active"
    assert memory.verify(**OWNER) == []


def test_a_summary_goes_with_the_last_note_that_comes_back(memory, clock):
    summary, *_ = evicted(memory, clock)
    before = snapshot(memory)
    restored = [memory.restore(name, **OWNER) for name in ("b0", "b1", "b2")]
    assert len(list(memory.get_all(**OWNER))) == 5
    with pytest.raises(NotFound):
        memory.get(summary.id, **OWNER)
    assert memory.verify(**OWNER) == []
    for one in reversed(restored):
        memory.undo(one.id, **OWNER)
    same(snapshot(memory), before)
    assert memory.verify(**OWNER) == []


def test_an_update_of_what_was_evicted_brings_it_back(memory, clock):
    summary, *_ = evicted(memory, clock)
    memory.update("b1", "The boat has three masts.", **OWNER)
    assert memory.get("b1", **OWNER).raw[0].startswith("Ana: The boat has three masts.")
    after = memory.get(summary.id, **OWNER)
    assert [one.id for one in after.sources] == ["b0", "b2"]
    assert "masts" not in after.context
    assert memory.verify(**OWNER) == []


def test_a_deletion_of_what_was_evicted_takes_it_out_of_the_summary(memory, clock):
    summary, *_ = evicted(memory, clock)
    deleted = memory.delete("b1", **OWNER)
    assert not [hit for hit in memory.search("two masts", **OWNER, archived=True) if "masts" in hit.note.context]
    assert "masts" not in memory.get(summary.id, **OWNER).context
    assert all("masts" not in note.context for note in memory.get_all(**OWNER))
    assert memory.verify(**OWNER) == []
    memory.undo(deleted.id, **OWNER)
    assert memory.get("b1", **OWNER).status == "active"
    assert memory.verify(**OWNER) == []


def test_a_deleted_summary_takes_what_it_sums_with_it(memory, clock):
    summary, *_ = evicted(memory, clock)
    before = snapshot(memory)
    deleted = memory.delete(summary.id, **OWNER)
    assert not [hit for hit in memory.search("masts", **OWNER, archived=True) if "masts" in hit.note.context]
    assert all("winter" not in note.context for note in memory.get_all(**OWNER))
    with pytest.raises(InvalidInput, match="deleted"):
        memory.restore("b1", **OWNER)
    assert memory.verify(**OWNER) == []
    memory.undo(deleted.id, **OWNER)
    same(snapshot(memory), before)
    assert memory.verify(**OWNER) == []


def test_a_summary_gets_a_text_of_the_user(memory, clock):
    summary, *_ = evicted(memory, clock)
    updated = memory.update(summary.id, "I own a boat.", **OWNER)
    assert "I own a boat." in memory.get(summary.id, **OWNER).context
    assert memory.verify(**OWNER) == []
    assert memory.render(**OWNER) == 0
    memory.undo(updated.id, **OWNER)
    assert memory.get(summary.id, **OWNER).context == summary.context


def test_nothing_joins_or_replaces_a_summary(memory, clock):
    summary, *_ = evicted(memory, clock)
    said = [
        memory.add({"text": BOAT[0], "speaker": "Ana", "session": "t"}, **OWNER).entries[0],
        memory.add({"text": "The boat no longer has two masts.", "speaker": "Ana", "session": "t"}, **OWNER).entries[0],
    ]
    assert {entry.kind for entry in said} <= {"append", "link"}
    assert memory.get(summary.id, **OWNER).context == summary.context
    assert memory.verify(**OWNER) == []


def test_what_is_pinned_held_young_pending_or_of_a_class_that_stays_is_left_alone(memory, clock):
    tell(memory, clock, BOAT)
    memory.pin("b0", **OWNER)
    memory.hold("A dispute.", source="b1", **OWNER)
    memory.set_policy("b2", "canonical", **OWNER)
    memory.add({"id": "young", "text": "The boat is blue.", "speaker": "Ana"}, **OWNER)
    memory.add({"id": "waits", "text": "The boat is slow.", "speaker": "Ana"}, **OWNER, wait=False)
    assert memory.evict(**OWNER).notes == 0
    memory.unpin("b0", **OWNER)
    clock.later(2 * DAY)
    sources = {
        one.id for decision in memory.evict(**OWNER).decisions for one in memory.get(decision.note, **OWNER).sources
    }
    assert sources == {"b0", "b3", "young"}
    assert memory.verify(**OWNER) == []


def test_a_memory_that_is_held_is_not_evicted(memory, clock):
    tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
    hold = memory.hold("A court asked for it.", **OWNER)
    assert memory.evict(**OWNER).notes == 0
    memory.release(hold.id, **OWNER)
    assert memory.evict(**OWNER).notes == 3


def test_a_dry_run_tells_what_would_be_summed_and_writes_nothing(memory, clock):
    tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
    before = snapshot(memory)
    dry = memory.evict(**OWNER, dry_run=True)
    same(snapshot(memory), before)
    done = memory.evict(**OWNER)
    assert (dry.notes, dry.summaries, dry.left, dry.decisions) == (done.notes, done.summaries, done.left, ())


def test_a_memory_has_a_cap_of_its_own(memory, clock):
    with pytest.raises(NotFound, match="empty"):
        memory.limit(3, **OWNER)
    tell(memory, clock, BOAT[:3])
    for cap in (-1, True, "3"):
        with pytest.raises(InvalidInput, match="cap"):
            memory.limit(cap, **OWNER)
    assert memory.evict(**OWNER).notes == 0
    memory.limit(2, **OWNER)
    assert memory.evict(**OWNER, dry_run=True).notes == 3
    memory.limit(0, **OWNER)
    assert memory.evict(**OWNER).cap == 0
    memory.limit(None, **OWNER)
    assert memory.evict(**OWNER).cap == 4


def test_notes_of_the_least_utility_leave_first_where_the_settings_say_so(tenant, embedder, clock):
    settings = Settings.load(lifecycle={**OLDEST, "order": "utility"}, use={"record": "on"})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
        old, young = ([memory.get(name, **OWNER).id for name in some] for some in (["b0", "b1"], ["b2", "b3", "b4"]))
        memory.reflect("What of the boat?", old, "I bought an old boat in Porto; it has two masts.", **OWNER)
        (decision,) = memory.evict(**OWNER).decisions
        assert set(memory.get(decision.note, **OWNER).sums) == {*young}


def test_what_was_said_again_is_warmer_where_that_counts(tenant, embedder, clock):
    settings = Settings.load(lifecycle=OLDEST, recall={"restated": 1.0})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
        again = memory.add({"text": BOAT[1], "speaker": "Ana", "session": "t"}, **OWNER).entries[0]
        assert again.kind == "reinforce"
        clock.later(2 * DAY)
        told = [
            one.id for decision in memory.evict(**OWNER).decisions for one in memory.get(decision.note, **OWNER).sources
        ]
        assert "b1" not in told
        assert "b0" in told


def test_a_memory_is_brought_down_to_its_megabytes(tenant, embedder, clock):
    """By the cap on bytes alone, of which a worker knows too."""
    settings = Settings.load(lifecycle={**OLDEST, "cap": 0, "cap_mb": 0.015})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        vectors = 8 * memory.engine.embedder.dimensions / 1e6  # of one note, in megabytes
        tell(memory, clock, BOAT)
        assert 4 * vectors < memory.evict(**OWNER).megabytes < 0.015
        tell(
            memory, clock, ["Our beekeeper sold two hives.", "The hives are yellow.", "The bees sleep in winter."], "c"
        )
        dry = memory.evict(**OWNER, dry_run=True)
        assert (dry.notes > 0, dry.megabytes > 0.015) == (True, True)
        runs = []
        Worker(memory.engine, tell=runs.append).once()
        assert [one.outcome for one in runs if one.kind == "evict"] == ["done"]
        after = memory.evict(**OWNER)
        assert (after.notes, after.cap, after.cap_mb) == (0, 0, 0.015)
        assert after.megabytes <= 0.75 * 0.015
        assert memory.verify(**OWNER) == []


def test_a_model_sums_up_the_earliest_of_a_long_session_and_without_one_nothing_changes(tenant, embedder, clock):
    settings = Settings.load(lifecycle={"session_cap": 4, "evolve": 1})
    texts = (*BOAT, "I sold the boat's old dinghy.", "The boat lies at quay nine.")
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        tell(memory, clock, texts)
        tell(memory, clock, ["Our beekeeper sold two hives."], "c", session="t")
        before = snapshot(memory)
        assert memory.evict(**OWNER).notes == 0
        same(snapshot(memory), before)
    whole = " ".join(f"Ana said: {text}" for text in texts[:4])
    for summary, kept in (("Ana sails.", 7), (whole, 4)):  # one that loses what was said is not taken
        chat = ScriptedChat([{"groups": [{"group": 1, "summary": summary}]}])
        with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings, llm=chat) as memory:
            assert memory.evict(**OWNER, dry_run=True).notes == 0
            done = memory.evict(**OWNER)
            assert len(chat.calls) == 1
            assert len(list(memory.get_all(**OWNER))) == kept
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        (decision,) = done.decisions
        note = memory.get(decision.note, **OWNER)
        assert ([one.id for one in note.sources], note.context) == (["b0", "b1", "b2", "b3"], whole)
        assert memory.verify(**OWNER) == []
        memory.undo(decision.id, **OWNER)
        same(snapshot(memory), before)


def test_a_worker_evicts(memory, clock):
    tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
    runs = []
    Worker(memory.engine, tell=runs.append).once()
    assert [(one.kind, one.outcome, dict(one.counts)) for one in runs if one.kind == "evict"] == [
        ("evict", "done", {"archived": 3, "summaries": 1})
    ]
    assert len(list(memory.get_all(**OWNER))) == 3
    runs.clear()
    Worker(memory.engine, tell=runs.append).once()
    assert runs == []


def test_a_summary_is_evicted_and_merged_from_what_it_sums(memory, clock):
    first, *_ = evicted(memory, clock)
    tell(memory, clock, ["The boat's engine has 40 horses.", "The boat sleeps four.", "The boat is at the quay."], "c")
    done = memory.evict(**OWNER)
    second = next(note for note in (memory.get(one.note, **OWNER) for one in done.decisions) if first.id in note.sums)
    assert set(first.sums) < set(second.sums)
    assert memory.history(first.id, **OWNER)[-1].note.status == "archived"
    assert "Porto" in second.context
    assert memory.get("b1", **OWNER).id == second.id
    assert {"b0", "b1", "b2"} < {one.id for one in second.sources}
    assert memory.verify(**OWNER) == []
    before = snapshot(memory)
    back = memory.restore(first.id, **OWNER)
    assert memory.get("b1", **OWNER).id == first.id
    assert {one.id for one in memory.get(first.id, **OWNER).sources} == {"b0", "b1", "b2"}
    assert memory.verify(**OWNER) == []
    memory.undo(back.id, **OWNER)
    same(snapshot(memory), before)
    one = memory.restore("b0", **OWNER)
    assert memory.verify(**OWNER) == []
    memory.undo(one.id, **OWNER)
    same(snapshot(memory), before)
    memory.undo(next(one.id for one in done.decisions if one.note == second.id), **OWNER)
    assert memory.get("b1", **OWNER).id == first.id
    assert memory.verify(**OWNER) == []


@pytest.mark.parametrize("swept", [False, True])
def test_a_summary_expires_with_what_it_sums(memory, clock, swept):
    summary, *_ = evicted(memory, clock, expires="2024-06-01")
    clock.later(60 * DAY)
    if swept:
        memory.sweep(**OWNER)
    assert memory.search("How many masts does the boat have?", **OWNER, archived=True) == []
    for name in (summary.id, "b1"):
        with pytest.raises(NotFound):
            memory.get(name, **OWNER)
    assert memory.verify(**OWNER) == []
    memory.restore(summary.id, **OWNER)
    assert {one.id for one in memory.get("b1", **OWNER).sources} == {"b0", "b1", "b2"}
    assert memory.verify(**OWNER) == []


def test_a_pinned_summary_keeps_what_it_sums(memory, clock):
    summary, *_ = evicted(memory, clock, expires="2024-06-01")
    memory.pin(summary.id, **OWNER)
    clock.later(60 * DAY)
    memory.sweep(**OWNER)
    assert memory.get(summary.id, **OWNER).expires_at.year == 9999
    memory.restore("b1", **OWNER)
    assert memory.get("b1", **OWNER).raw[0].startswith("Ana: The boat has two masts.")
    assert memory.verify(**OWNER) == []


def test_notes_that_end_at_different_times_are_not_summed_together(memory, clock):
    for n, text in enumerate(BOAT):
        given = {"id": f"b{n}", "text": text, "speaker": "Ana", "expires": f"2025-0{n // 2 + 1}-01"}
        memory.add(given, **OWNER)
    memory.add("Our beekeeper sold two hives.", **OWNER)
    clock.later(3 * DAY)
    done = memory.evict(**OWNER)
    told = [{one.id for one in memory.get(decision.note, **OWNER).sources} for decision in done.decisions]
    assert sorted(map(sorted, told)) == [["b0", "b1"], ["b2", "b3"]]


@pytest.mark.parametrize("gone", [["b1"], ["b0", "b1"], ["b0", "b1", "b2"]])
def test_what_is_erased_is_in_no_summary_any_more(memory, clock, gone):
    summary, *_ = evicted(memory, clock)
    receipt = memory.erase(memory.forget(user_id="ana", source=gone))
    assert receipt.residue == 0
    told = everything_told(memory)
    assert "masts" not in told
    assert ("porto" in told) == ("b0" not in gone)
    left = {"b0", "b1", "b2"} - set(gone)
    if left:
        assert {one.id for one in memory.get(summary.id, **OWNER).sources} == left
    else:
        with pytest.raises(NotFound):
            memory.get(summary.id, **OWNER)
    assert memory.verify(**OWNER) == []
    assert memory.render(**OWNER) == 0
    for name in left:
        memory.restore(name, **OWNER)
    assert memory.verify(**OWNER) == []


def test_a_turn_quotes_what_is_summed_also_after_the_turn_between_was_erased(memory, clock):
    _, _, done = evicted(memory, clock)
    told = {one.id for decision in done.decisions for one in memory.get(decision.note, **OWNER).sources}
    assert told == {"b0", "b1", "b2"}
    memory.erase(memory.forget(user_id="ana", source="b2"))
    assert "[before: Ana: The boat has two masts." in memory.get("b3", **OWNER).context
    assert memory.render(**OWNER) == 0
    assert memory.verify(**OWNER) == []


def test_what_a_summary_tells_is_erased_by_its_id(memory, clock):
    summary, *_ = evicted(memory, clock)
    plan = memory.forget(user_id="ana", source=summary.id)
    assert plan.sources == ("b0", "b1", "b2")
    assert memory.erase(plan).residue == 0
    assert "masts" not in everything_told(memory)
    assert memory.verify(**OWNER) == []


def test_a_document_that_changed_is_followed_though_passages_were_evicted(memory, clock, tmp_path):
    file = tmp_path / "boat.md"
    parts = ["# Boat\n\n" + f"{text} {'It is so. ' * 60}" for text in BOAT]
    file.write_text("\n\n".join(parts))
    memory.ingest(file, **OWNER)
    memory.add("Our beekeeper sold two hives.", **OWNER)
    clock.later(3 * DAY)
    done = memory.evict(**OWNER)
    assert done.notes > 0
    again = memory.ingest(file, **OWNER)
    assert (again.added, again.faults) == (0, ())
    file.write_text("\n\n".join(parts[1:]))
    followed = memory.ingest(file, **OWNER, update=True)
    assert (followed.deleted, followed.faults) == (1, ())
    assert not [note for note in memory.get_all(**OWNER) if "Porto" in note.context]
    assert memory.verify(**OWNER) == []


def test_other_memories_are_left_alone_and_lend_no_word(memory, clock):
    for user in ("ana", "ben"):
        for n, text in enumerate((*BOAT, "Our beekeeper sold two hives.")):
            memory.add({"id": f"b{n}", "text": text, "speaker": user}, user_id=user)
    clock.later(3 * DAY)
    before = snapshot(memory, "ben")
    memory.evict(**OWNER)
    same(snapshot(memory, "ben"), before)
    assert memory.verify(user_id="ben") == []
    assert {hit.note.speaker for hit in memory.search("boat", user_id="ben", archived=True)} == {"ben"}


def test_notes_that_were_shown_are_warmer(memory, clock):
    tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
    scope = f"{memory.engine.settings.tenant}/ana"
    shown = memory.get("b0", **OWNER).id
    with memory.engine.db._session() as session:
        session.run("CREATE (:Usage {scope: $scope, id: $id, shown: 3})", scope=scope, id=shown).consume()
    try:
        done = memory.evict(**OWNER)
        told = {one.id for decision in done.decisions for one in memory.get(decision.note, **OWNER).sources}
        assert told == {"b1", "b2", "b3"}
    finally:
        with memory.engine.db._session() as session:
            session.run("MATCH (u:Usage {scope: $scope}) DELETE u", scope=scope).consume()


# ---- with a model -------------------------------------------------------------------------------


def asked(tenant, embedder, clock, answers, **lifecycle):
    settings = Settings.load(
        lifecycle={"cap": 4, "target": 0.75, "information_weight": 0, **lifecycle},
        llm={"roles": {role: {"model": ""} for role in ("extraction", "gating", "merging", "planning", "sufficiency")}},
    )
    chat = ScriptedChat(answers)
    return chat, Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings, llm=chat)


def test_a_model_writes_the_summary_where_it_keeps_every_name_and_number(tenant, embedder, clock):
    text = "Ana bought an old boat with two masts in Porto, which she does not sail in winter."
    chat, memory = asked(tenant, embedder, clock, [{"groups": [{"group": 1, "summary": text}]}])
    with memory:
        summary, decision, done = evicted(memory, clock)
        assert summary.context == text
        assert summary.raw[0].startswith("Ana: I bought an old boat in Porto.")
        assert decision.model == chat.name
        assert decision.cost.calls == done.cost.calls == 1
        assert memory.verify(**OWNER) == []
        assert memory.render(**OWNER) == 0
        memory.erase(memory.forget(user_id="ana", source="b1"))
        assert "masts" not in everything_told(memory)


@pytest.mark.parametrize(
    "text", ["Ana bought a boat with two masts.", "Ana bought a boat in Porto and 3 cars, two masts."]
)
def test_a_model_s_summary_that_lacks_or_adds_a_name_or_number_is_not_used(tenant, embedder, clock, text):
    _, memory = asked(tenant, embedder, clock, [{"groups": [{"group": 1, "summary": text}]}])
    with memory:
        summary, decision, _ = evicted(memory, clock)
        assert summary.context != text
        assert "Porto" in summary.context
        assert decision.model == ""


def test_a_model_that_fails_is_done_without(tenant, embedder, clock):
    _, memory = asked(tenant, embedder, clock, ["no JSON", "again none"])
    with memory:
        summary, _, done = evicted(memory, clock)
        assert "Porto" in summary.context
        assert done.fallbacks[0].startswith("Consolidation was done without a model")


# ---- what is kept apart -------------------------------------------------------------------------

POLICIES = """
default: factual
classes:
  factual: {ttl: none}
  private: {ttl: none, models: false, shown: asked}
  asked: {ttl: none, shown: asked}
  other: {ttl: none, shown: asked}
"""
MASTS = "How many masts does the boat have?"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text(POLICIES)
    return str(path)


def masts(memory, **given):
    """Whether a search finds the masts, which a summary tells of."""
    hits = [*memory.search(MASTS, **OWNER, **given), *memory.search(MASTS, **OWNER, archived=True, **given)]
    return "masts" in " ".join(hit.note.context for hit in hits)


def test_a_summary_of_what_is_kept_apart_is_kept_apart_and_no_model_sees_it(tenant, embedder, clock, file):
    chat, memory = asked(tenant, embedder, clock, [], policies=file)
    with memory:
        tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."), policy="private")
        before = snapshot(memory)
        (decision,) = memory.evict(**OWNER).decisions
        assert chat.calls == []
        (summary,) = [note for note in memory.get_all(**OWNER) if note.sums]
        assert (summary.apart, summary.policy, summary.keywords) == ("private", "private", ())
        assert memory.explain(summary.id, **OWNER).ties == ()
        assert not masts(memory)
        assert "masts" not in memory.context(MASTS, **OWNER).text
        assert masts(memory, include=["private"])
        assert summary.id in [hit.note.id for hit in memory.search(MASTS, **OWNER, include=["private"])]
        assert memory.verify(**OWNER) == []
        memory.undo(decision.id, **OWNER)
        same(snapshot(memory), before)


def test_a_model_is_asked_about_one_class_at_a_time_of_those_that_it_may_see(tenant, embedder, clock, file):
    chat, memory = asked(tenant, embedder, clock, ["no JSON"] * 20, policies=file)
    told = {"factual": "anchor", "asked": "amaranth", "other": "beehive", "private": "vault"}
    with memory:
        for policy, word in told.items():
            tell(memory, clock, [f"The {word} has {n} locks." for n in range(3)], policy, policy=policy)
        memory.limit(1, **OWNER)
        done = memory.evict(**OWNER)
        assert {memory.get(one.note, **OWNER).apart for one in done.decisions} == {None, "asked", "other", "private"}
        seen = [{word for word in told.values() if word in call.text} for call in chat.calls]
        assert {word for words in seen for word in words} == {"anchor", "amaranth", "beehive"}
        assert all(len(words) == 1 for words in seen)
        assert memory.verify(**OWNER) == []


def test_what_a_summary_stands_for_is_kept_apart_as_it_is(tenant, embedder, clock, file):
    _, memory = asked(tenant, embedder, clock, ["no JSON"] * 4, policies=file)
    with memory:
        summary, *_ = evicted(memory, clock, ("Do you know the boat with two masts?", *BOAT[:2], *BOAT[2:]))
        assert masts(memory)
        before = snapshot(memory)
        decision = memory.set_policy(summary.id, "private", **OWNER)
        assert memory.get(summary.id, **OWNER).keywords == ()
        assert not masts(memory)
        assert masts(memory, include=["private"])
        assert not masts(memory, known_at=clock.now)
        assert memory.verify(**OWNER) == []
        back = memory.restore("b1", **OWNER)
        assert memory.get("b1", **OWNER).apart == "private"
        assert not masts(memory)
        assert memory.verify(**OWNER) == []
        memory.undo(back.id, **OWNER)
        memory.undo(decision.id, **OWNER)
        same(snapshot(memory), before)
        assert memory.verify(**OWNER) == []


def test_what_was_evicted_comes_back_apart_where_its_class_is_so_now(tenant, embedder, clock, tmp_path):
    file = tmp_path / "policies.yaml"
    file.write_text(POLICIES)
    text = "Ana bought an old boat with two masts in Porto, which she does not sail in winter."
    given = [{"groups": [{"group": 1, "summary": text}]}]
    with asked(tenant, embedder, clock, given, policies=str(file))[1] as memory:
        summary, *_ = evicted(memory, clock, policy="factual")
    other = tmp_path / "others.yaml"
    other.write_text(POLICIES.replace("factual: {ttl: none}", "factual: {ttl: none, models: false, shown: asked}"))
    with asked(tenant, embedder, clock, [], policies=str(other))[1] as memory:
        before = snapshot(memory)
        back = memory.restore("b1", **OWNER)
        assert memory.get("b1", **OWNER).apart == "factual"
        assert "masts" not in memory.get(summary.id, **OWNER).context
        assert not masts(memory)
        assert memory.verify(**OWNER) == []
        memory.undo(back.id, **OWNER)
        assert "masts" in " ".join(memory.get(summary.id, **OWNER).raw)
        assert memory.verify(**OWNER) == []
        same(snapshot(memory), before)


def test_a_model_s_summary_tells_nothing_of_what_is_kept_apart_later(tenant, embedder, clock, file):
    text = "Ana bought an old boat with two masts in Porto, which she does not sail in winter, and hives."
    _, memory = asked(tenant, embedder, clock, [{"groups": [{"group": 1, "summary": text}]}], policies=file)
    with memory:
        summary, *_ = evicted(memory, clock)
        assert summary.context == text
        decision = memory.set_policy("b4", "private", **OWNER)
        after = memory.get(summary.id, **OWNER)
        assert after.raw == summary.raw
        assert "hives" not in after.context
        assert "laughed" not in after.context
        assert "two masts" in after.context
        assert memory.verify(**OWNER) == []
        memory.undo(decision.id, **OWNER)  # what a model wrote is not brought back by it
        assert memory.get(summary.id, **OWNER).context == after.context
        assert memory.verify(**OWNER) == []


def test_a_moment_before_its_eviction_is_told_as_it_was_then(memory, clock):
    tell(memory, clock, (*BOAT, "Our beekeeper sold two hives."))
    before = clock.now
    clock.later(DAY)
    memory.evict(**OWNER)
    found = memory.search("Who laughed in the rain that day?", **OWNER, known_at=before)
    assert any("laughed" in hit.note.context for hit in found)
    assert datetime.now(UTC) > before
