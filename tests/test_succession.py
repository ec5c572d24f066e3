"""What a later statement has perhaps outdated is told as such in a context, and hidden nowhere."""

import doctest
from dataclasses import replace

import pytest

from memgraph_engine.answer import succession
from memgraph_engine.answer.facts import facts
from memgraph_engine.answer.succession import outdated

MAY, JUNE = "2025-05-03T07:30:00", "2025-06-15T08:00:00"
HENS = [
    {
        "id": "old",
        "role": "user",
        "time": MAY,
        "content": "I keep eleven hens behind the garage, how much feed per week?",
    },
    {"id": "new", "role": "user", "time": JUNE, "content": "the neighbour gave me two hens!! so that's 13 in the coop"},
]
QUESTION = "How many hens do I keep?"


def remarks(context):
    return {entry.sources[0].id: entry.remarks for entry in context.entries}


def test_docstring_examples():
    assert doctest.testmod(succession).failed == 0


def test_the_later_of_two_statements_stands_first_and_the_older_one_was_perhaps_true_until_then(memory):
    memory.add(HENS, user_id="ana")
    context = memory.context(QUESTION, user_id="ana")
    assert [entry.sources[0].id for entry in context.entries] == ["new", "old"]
    assert remarks(context) == {"new": (), "old": ("perhaps replaced by [1]",)}
    assert "(perhaps replaced by [1]): ana: I keep eleven hens" in context.text


def test_nothing_is_outdated_by_what_was_said_on_the_same_day(memory):
    memory.add([HENS[0], {**HENS[1], "time": "2025-05-03T09:00:00"}], user_id="ana")
    assert set(remarks(memory.context(QUESTION, user_id="ana")).values()) == {()}


def test_nothing_is_outdated_by_somebody_else(memory):
    memory.add([{**HENS[0], "speaker": "Ana"}, {**HENS[1], "speaker": "Bo"}], user_id="ana")
    assert set(remarks(memory.context(QUESTION, user_id="ana")).values()) == {()}


def test_nothing_is_outdated_by_an_assistant(memory):
    memory.add([HENS[0], {**HENS[1], "role": "assistant"}], user_id="ana")
    assert "perhaps" not in memory.context(QUESTION, user_id="ana").text


def test_a_time_before_the_later_statement_knows_nothing_of_it(memory):
    memory.add(HENS, user_id="ana")
    assert remarks(memory.context(QUESTION, user_id="ana", as_of="2025-05-20")) == {"old": ()}


@pytest.mark.parametrize("question", ["What is my cat called?", "How large is my garden?"])
def test_what_a_question_is_not_about_outdates_nothing(memory, question):
    memory.add(HENS, user_id="ana")
    hits = memory.search(question, user_id="ana")
    assert len(hits) == 2
    assert outdated(question, hits, "english") == {}


def test_among_many_notes_a_later_one_has_to_be_more_relevant(memory):
    memory.add(HENS, user_id="ana")
    hits = [replace(hit, relevance=0.2) for hit in memory.search(QUESTION, user_id="ana")]
    assert outdated(QUESTION, hits, "english", notes=20)
    assert not outdated(QUESTION, hits, "english", notes=20_000)


def test_a_later_word_on_another_matter_replaces_nothing(memory):
    memory.add({"text": "I moved to Lisbon in March.", "speaker": "Ana", "time": MAY}, user_id="ana")
    memory.add({"text": "I work at the aquarium now.", "speaker": "Ana", "time": JUNE}, user_id="ana")
    assert "perhaps" not in memory.context("Where does Ana live?", user_id="ana").text


def test_a_tie_that_tells_of_both_notes_says_more(memory):
    told = ("I live in Lisbon.", MAY), ("I live in Porto now.", JUNE)
    memory.add([{"role": "user", "content": text, "time": time} for text, time in told], user_id="ana")
    context = memory.context("Where do I live?", user_id="ana")
    assert "was true until 2025-06-15" in context.text
    assert "perhaps" not in context.text


def test_what_is_known_to_have_replaced_a_note_replaces_no_other(memory):
    told = (
        ("I live in Lisbon.", "2026-05-04"),
        ("My sister Rosa is allergic to nuts.", "2026-05-04"),
        ("I no longer live in Lisbon, I moved to Faro.", "2026-05-18"),
    )
    memory.add([{"role": "user", "content": text, "time": day} for text, day in told], user_id="ana")
    assert "perhaps" not in memory.context("Where does Ana live?", user_id="ana").text


def test_a_later_statement_replaces_one_at_most_and_stands_first_only_where_it_is_nearly_as_relevant(memory):
    said = ("My rent is 900 a month.", MAY), ("My gym is 40 a month.", MAY), ("my rent, that's 960 now a month", JUNE)
    memory.add([{"role": "user", "content": text, "time": time} for text, time in said], user_id="ana")
    question = "How much is my rent a month?"
    hits = {hit.note.text: hit for hit in memory.search(question, user_id="ana")}
    rent, gym, raised = (replace(hits[text], relevance=0.9) for text, _ in said)
    found = outdated(question, [gym, rent, raised], "english")
    assert {note: newer.note.text for note, newer in found.items()} == {rent.note.id: said[2][0]}
    stray = replace(raised, relevance=0.2, score=rent.score / 2)
    for newer, first in ((raised, said[2][0]), (stray, said[0][0])):
        told, _ = facts([rent, newer], [], {rent.note.id: newer}, 1.0, "english")
        assert told[0].note.text == first


@pytest.mark.parametrize(
    ("old", "new", "exchanged"),
    [
        ("Our choir meets in Oslo.", "The hall burnt down, so our choir is in Bergen.", True),
        ("The rent is 840 a month.", "they put the rent up to nine", True),
        ("Tim swims on Tuesdays.", "it is thursdays for Tim", True),
        ("Our choir meets in Oslo.", "Our choir sang in Oslo at noon.", False),
        ("Our choir meets in Oslo.", "It rained. Nobody came to the choir.", False),
    ],
)
def test_two_values_of_one_kind_speak_for_a_change(memory, old, new, exchanged):
    said = ((old, MAY), (new, JUNE))
    memory.add([{"role": "user", "content": text, "time": time} for text, time in said], user_id="ana")
    hits = [replace(hit, relevance=1.0) for hit in memory.search(old, user_id="ana")]
    ((_, newer, features),) = succession.pairs(old, hits, "english")
    assert newer.note.text == new
    assert dict(zip(succession.FEATURES, features, strict=True))["value"] == exchanged
