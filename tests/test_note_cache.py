"""A client keeps the notes that its searches read: what it answers is what the graph holds all the same."""

from dataclasses import replace
from threading import Thread
from uuid import uuid4

import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.testing import purge

QUESTIONS = ("Where does Ana live?", "What does the dog eat?", "Who paints boats?")


def with_cache(megabytes, tenant, embedder):
    settings = Settings.load(tenant=tenant)
    recall = settings.recall.model_copy(update={"cache_mb": megabytes})
    return Memory.connect(settings=settings.model_copy(update={"recall": recall}), embedder=embedder)


def answers(memory, questions=QUESTIONS, **when):
    """All that a client answers, but for how much of it was in its cache."""
    found = []
    for question in questions:
        for hit in memory.search(question, user_id="ana", explain=True, **when):
            rounds = tuple(replace(one, fetched=0) for one in hit.explanation.rounds)
            found.append(replace(hit, explanation=replace(hit.explanation, rounds=rounds)))
    return found


@pytest.fixture
def writer(memory):
    memory.add_many(
        [
            {"id": "home", "text": "I live in Lisbon.", "speaker": "Ana", "session": "s", "tags": ["home"]},
            {"id": "dog", "text": "My dog Rex eats nothing but sardines.", "speaker": "Ana", "session": "s"},
            {"id": "boats", "text": "Ben paints boats by the harbour on Sundays.", "speaker": "Ana", "session": "s"},
        ],
        user_id="ana",
    )
    return memory


CHANGES = {
    "an update": lambda one: one.update("home", "I live in Porto by the river.", user_id="ana"),
    "an update undone": lambda one: one.undo(one.decisions(user_id="ana", limit=1)[0].id, user_id="ana"),
    "a deletion": lambda one: one.delete("dog", user_id="ana"),
    "a deletion undone": lambda one: one.undo(one.decisions(user_id="ana", limit=1)[0].id, user_id="ana"),
    "a note undone": lambda one: one.undo(one.explain("dog", user_id="ana").decisions[0].id, user_id="ana"),
    "the same words again": lambda one: one.add("I live in Lisbon.", speaker="Ana", id="again", user_id="ana"),
    "a repeat in other words": lambda one: one.add(
        "On Sundays Ben paints boats by the harbour.", speaker="Ana", id="other", user_id="ana"
    ),
    "a correction": lambda one: one.add(
        "I no longer live in Lisbon, I moved to Faro.", speaker="Ana", id="moved", user_id="ana"
    ),
    "a pending note": lambda one: one.add("The dog eats apples too.", user_id="ana", wait=False),
    "what waited": lambda one: one.process(user_id="ana"),
    "topics": lambda one: one.rebuild_topics(user_id="ana"),
    "a shared note": lambda one: one.add("The dog of the house eats bread.", shared=True),
    "everything deleted": lambda one: one.delete_all(user_id="ana"),
}


def test_what_another_client_changes_is_seen_at_once(writer, tenant, embedder):
    with with_cache(256, tenant, embedder) as reader:
        seen = answers(reader)
        assert seen
        for change in CHANGES:
            before = seen
            CHANGES[change](writer)
            seen = answers(reader)
            writer.engine.notes.clear()
            assert seen == answers(writer), change
            assert seen != before or change == "topics"
            for when in ({"as_of": "2030-01-01"}, {"known_at": writer.engine.now()}):
                one = QUESTIONS[:1]  # its pool holds all notes
                assert answers(reader, one, **when) == answers(writer, one, **when), change


def test_what_was_undone_and_said_anew_is_not_taken_for_what_it_was(writer, tenant, embedder):
    with with_cache(256, tenant, embedder) as reader:
        for _ in range(2):
            answers(reader)
            writer.undo(writer.explain("boats", user_id="ana").decisions[-1].id, user_id="ana")
            text = "Ben paints boats by the harbour on Sundays."
            writer.add(
                {"id": "boats", "text": text, "speaker": "Ana", "session": "s", "tags": [uuid4().hex]}, user_id="ana"
            )
            writer.engine.notes.clear()
            assert answers(reader) == answers(writer)


def test_a_memory_that_was_purged_and_filled_anew_is_not_taken_for_the_former(writer, tenant, embedder):
    with with_cache(256, tenant, embedder) as reader, with_cache(256, tenant, embedder) as anew:
        answers(reader)
        purge(tenant)
        anew.add({"id": "home", "text": "I live in Lisbon.", "speaker": "Ana", "tags": ["new"]}, user_id="ana")
        (hit,) = reader.search(QUESTIONS[0], user_id="ana")
        assert hit.note.tags == ("new",)


def test_what_was_read_once_is_not_fetched_again(writer, tenant, embedder):
    with with_cache(256, tenant, embedder) as reader:
        first = reader.search(QUESTIONS[0], user_id="ana", explain=True)[0].explanation.rounds[0]
        again = reader.search(QUESTIONS[0], user_id="ana", explain=True)[0].explanation.rounds[0]
        assert (first.pool, first.fetched, again.fetched) == (3, 3, 0)
        cache = reader.stats(user_id="ana").cache
        assert (cache.notes, cache.found, cache.fetched) == (3, 3, 3)
        assert 0 < cache.bytes < cache.most_bytes == 256 << 20


def test_a_cache_of_nothing_keeps_nothing_and_answers_the_same(writer, tenant, embedder):
    with with_cache(0, tenant, embedder) as reader:
        writer.engine.notes.clear()
        assert answers(reader) == answers(writer)
        assert reader.stats(user_id="ana").cache.notes == 0


def test_a_full_cache_lets_go_of_what_was_used_longest_ago(memory, tenant, embedder):
    boats = [{"text": f"Boat number {i} is blue.", "caption": "o" * 60_000} for i in range(24)]
    memory.add_many(boats, user_id="ana")
    memory.add("The dog eats sardines.", user_id="ana")
    with with_cache(1, tenant, embedder) as reader:
        for _ in range(2):
            reader.search("What does the dog eat?", user_id="ana", top_k=1)
            assert len(reader.search("Which boats are blue?", user_id="ana", top_k=24)) == 24
        cache = reader.stats(user_id="ana").cache
        assert 0 < cache.notes < 25
        assert cache.bytes <= cache.most_bytes


def test_an_entry_is_found_by_nobody_who_may_not_read_it(writer, tenant, embedder):
    kept = dict(writer.engine.notes._notes)
    answers(writer)
    kept = list(writer.engine.notes._notes)
    assert kept
    other = f"{tenant}/ben"
    notes, fetched = writer.engine.notes.read(writer.engine.db, [other], kept, embedder_dimensions(writer))
    assert (notes, fetched) == ({}, len(kept))


def embedder_dimensions(memory):
    return memory.engine.embedder.dimensions


def test_threads_share_a_cache(writer, tenant, embedder):
    with with_cache(1, tenant, embedder) as reader:
        expected, seen = answers(reader), []
        threads = [Thread(target=lambda: seen.append(answers(reader))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [expected] * 8


def test_a_caller_may_change_what_he_was_given(memory):
    memory.add({"text": "The dog eats sardines.", "metadata": {"page": 1}}, user_id="ana")
    (hit,) = memory.search("dog", user_id="ana")
    hit.sources[0].metadata["page"] = 2
    assert memory.search("dog", user_id="ana")[0].sources[0].metadata == {"page": 1}
