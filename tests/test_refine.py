"""Rounds of retrieval: a question is asked again where the best notes do not cover it, and every round is told."""

import json

import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.errors import InvalidInput, ModelUnavailable
from memgraph_engine.testing import ScriptedChat
from tests.models import memory_with

TALK = [
    "My sister Ines moved to Porto last year.",
    "Ines works at the aquarium, with the otters.",
    "The otters are fed at noon.",
    "The bakery opens at six.",
    "I painted the fence green.",
]
COVERED = "Who works at the aquarium with the otters?"
EVERYTHING = {"relevance": 0.0}  # what is asked here is not what the notes are about
OPEN = "When can one watch the animals of the sister's employer?"


def judged(confidence, follow_up=""):
    return json.dumps({"questions": [{"question": 1, "confidence": confidence, "next": follow_up}]})


@pytest.fixture(scope="module")
def talk(kept):
    return kept(lambda memory: memory.add_many(TALK, user_id="ana"))


def rounds_of(hits):
    (told,) = {hit.explanation.rounds for hit in hits}
    return told


def test_what_the_best_notes_cover_is_asked_once(talk):
    (only,) = rounds_of(talk.search(COVERED, user_id="ana", rounds=3, explain=True))
    assert (only.query, only.confidence, only.sufficient, only.missing) == (COVERED, 1.0, True, ())


def test_what_they_do_not_cover_is_asked_again_with_their_words(talk):
    hits = talk.search(OPEN, user_id="ana", rounds=3, explain=True)
    told = rounds_of(hits)
    assert [one.query.startswith(OPEN) for one in told] == [True] * 2
    assert not any(one.sufficient for one in told)
    assert "employ" in told[0].missing
    added = told[1].query.removeprefix(OPEN).split()
    assert len(added) == 1
    best = {term for hit in talk.search(OPEN, user_id="ana", top_k=1) for term in hit.note.context.lower().split()}
    assert all(any(word.startswith(term) for word in best) for term in added)
    assert len({hit.note.id for hit in hits}) == len(hits)


def test_one_round_is_the_search_as_it_was(talk):
    plain, one = (talk.search(OPEN, user_id="ana", rounds=given) for given in (None, 1))
    assert [(hit.note.id, hit.score) for hit in plain] == [(hit.note.id, hit.score) for hit in one]
    told = talk.search(OPEN, user_id="ana", explain=True)
    assert [(hit.note.id, hit.score) for hit in told] == [(hit.note.id, hit.score) for hit in plain]


def test_the_similarity_is_that_to_the_question_whatever_is_asked_later(talk):
    once, thrice = (
        {hit.note.id: hit.similarity for hit in talk.search(OPEN, user_id="ana", rounds=rounds)} for rounds in (1, 3)
    )
    assert thrice == pytest.approx(once, abs=1e-5)
    least = sorted(once.values())[-2]
    cut = talk.search(OPEN, user_id="ana", rounds=3, min_similarity=least - 1e-4)
    assert {hit.note.id for hit in cut} == {note for note, close in once.items() if close >= least - 1e-4}


def test_the_score_is_the_mean_of_the_rounds_of_which_one_like_the_best_note_counts_a_quarter(talk):
    hits = talk.search(OPEN, user_id="ana", rounds=2, explain=True)
    first = {hit.note.id: hit.score for hit in talk.search(OPEN, user_id="ana")}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        later = 5 * hit.score - 4 * first[hit.note.id]
        assert -1e-9 <= later <= 1 + 1e-9
    assert any(abs(hit.score - first[hit.note.id]) > 1e-3 for hit in hits)


def test_a_round_that_a_model_asked_for_counts_half_of_the_one_before(tenant, embedder):
    chat = ScriptedChat([judged(0.3, "When are the otters fed?"), judged(1.0)])
    with memory_with(tenant, embedder, chat, only=["sufficiency"]) as (memory, _):
        memory.add_many(TALK, user_id="ana")
        first, second = (
            {hit.note.id: hit.score for hit in memory.search(question, user_id="ana")}
            for question in (OPEN, "When are the otters fed?")
        )
        both = {hit.note.id: hit.score for hit in memory.search(OPEN, user_id="ana", rounds=3)}
    assert both == pytest.approx({note: (2 * first[note] + second[note]) / 3 for note in first}, abs=1e-6)


def test_no_other_memory_is_asked_in_any_round(memory):
    memory.add_many(TALK, user_id="ana")
    memory.add_many([f"{text} (Ben)" for text in TALK], user_id="ben")
    own = {note.id for note in memory.get_all(user_id="ana")}
    assert {hit.note.id for hit in memory.search(OPEN, user_id="ana", rounds=3)} == own


def test_an_empty_memory_is_asked_once(memory):
    assert memory.search(OPEN, user_id="ana", rounds=3) == []


@pytest.mark.parametrize("rounds", [0, 4, -1, "2", 1.5, True])
def test_a_wrong_number_of_rounds_is_refused(talk, rounds):
    with pytest.raises(InvalidInput, match="rounds must be a whole number from 1 to 3"):
        talk.search(OPEN, user_id="ana", rounds=rounds)


def test_a_model_says_what_to_ask_next_and_when_it_is_enough(tenant, embedder):
    chat = ScriptedChat([judged(0.3, "When are the otters fed?"), judged(1.0)])
    with memory_with(tenant, embedder, chat, only=["sufficiency"]) as (memory, _):
        memory.add_many(TALK, user_id="ana")
        hits = memory.search(OPEN, user_id="ana", rounds=3, explain=True)
        spent = memory.cost(user_id="ana")
    told = rounds_of(hits)
    assert [(one.query, one.confidence, one.sufficient) for one in told] == [
        (OPEN, 0.3, False),
        ("When are the otters fed?", 1.0, True),
    ]
    assert {one.model for one in told} == {chat.name}
    assert "The otters are fed at noon." in {hit.note.context for hit in hits[:2]}
    assert OPEN in chat.calls[0].text
    assert TALK[0] in chat.calls[0].text
    assert sum(day.cost.calls for day in spent) == 2


def test_a_model_that_is_not_sure_but_has_no_question_ends_it(tenant, embedder):
    with memory_with(tenant, embedder, ScriptedChat([judged(0.1)]), only=["sufficiency"]) as (memory, _):
        memory.add_many(TALK, user_id="ana")
        assert len(rounds_of(memory.search(OPEN, user_id="ana", rounds=3, explain=True))) == 1


def test_a_model_that_fails_or_lies_is_done_without_and_the_context_says_so(tenant, embedder):
    answers = [ModelUnavailable("gone"), "no JSON", '{"questions": [{"question": 7}]}']
    chat = ScriptedChat(answers)
    with memory_with(tenant, embedder, chat, only=["sufficiency"], answer=EVERYTHING) as (memory, _):
        memory.add_many(TALK, user_id="ana")
        for left in (2, 0):
            context = memory.context(OPEN, user_id="ana")
            assert context.entries
            (why,) = context.fallbacks
            assert why.startswith("Judging the evidence was done without a model")
            assert chat.left == left


def test_a_context_is_made_in_rounds_too(talk, monkeypatch):
    asked = []
    run = talk.engine.db.run
    monkeypatch.setattr(talk.engine.db, "run", lambda name, **given: asked.append(name) or run(name, **given))
    talk.context(OPEN, user_id="ana")
    talk.context(COVERED, user_id="ana")
    assert asked.count("notes/propose") == 2 + 1


def test_a_reader_that_expects_another_language_learns_it_in_the_first_round(tenant, embedder, monkeypatch):
    spanish = Settings.load(language="spanish")
    with Memory.connect(tenant=tenant, embedder=embedder, settings=spanish) as memory:
        memory.add_many(["Inés trabaja en el acuario.", "Las nutrias comen a mediodía."], user_id="ana")
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        asked = []
        run = memory.engine.db.run
        monkeypatch.setattr(memory.engine.db, "run", lambda name, **given: asked.append(name) or run(name, **given))
        told = rounds_of(memory.search("¿Cuándo abre la panadería del barrio?", user_id="ana", rounds=2, explain=True))
    assert len(told) == 2
    assert asked.count("notes/propose") == 1 + 2  # once in the wrong language


@pytest.mark.parametrize("follow_up", ["x" * 501, "Who\0?"])
def test_what_is_no_question_is_not_asked(tenant, embedder, follow_up):
    with memory_with(tenant, embedder, ScriptedChat([judged(0.1, follow_up)] * 2), only=["sufficiency"]) as (memory, _):
        memory.add_many(TALK, user_id="ana")
        told = rounds_of(memory.search(OPEN, user_id="ana", rounds=3, explain=True))
    assert all(one.query.startswith(OPEN) for one in told)


def test_no_model_is_asked_after_the_last_round_and_nobody_judges_it(tenant, embedder):
    chat = ScriptedChat([judged(0.1, "When are the otters fed?")])
    with memory_with(tenant, embedder, chat, only=["sufficiency"]) as (memory, _):
        memory.add_many(TALK, user_id="ana")
        told = rounds_of(memory.search(OPEN, user_id="ana", rounds=2, explain=True))
    assert [(one.confidence, one.sufficient) for one in told] == [(0.1, False), (None, False)]
