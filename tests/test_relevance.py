"""What is asked: a context tells the best that there is, and says whether that is likely to be an answer."""

import doctest
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory
from memgraph_engine.answer import candidates, certainty
from memgraph_engine.cli import app
from memgraph_engine.model.answer import UNSURE
from memgraph_engine.recall import relevance
from memgraph_engine.recall.relevance import weights
from tests.test_context import hit

CHAT = [
    {"id": "u1", "role": "user", "content": "My aunt Ines keeps nine goats above Sintra.", "session": "a"},
    {"id": "a1", "role": "assistant", "content": "You could ask her for a cheese with herbs.", "session": "a"},
    {"id": "u2", "role": "user", "content": "She sells it on Fridays", "session": "a"},
    {"id": "u3", "role": "user", "content": "write a limerick on rain", "session": "b"},
    {"id": "a2", "role": "assistant", "content": "There once was a cloud in Peru, that wept on a tall kangaroo.",
     "session": "b"},
    {"id": "u4", "role": "user", "content": "recommend a walk near Porto", "session": "c"},
    {"id": "a3", "role": "assistant", "content": "Take the path along the Douro to Afurada, and the boat back.",
     "session": "c"},
]  # fmt: skip


@pytest.fixture(scope="module")
def goats(kept):
    return kept(lambda memory: memory.add(CHAT, user_id="ana"))


def told(context):
    return {source.id for entry in context.entries for source in entry.sources}


def test_docstring_examples():
    assert all(doctest.testmod(one).failed == 0 for one in (candidates, certainty, relevance))


@pytest.mark.parametrize(
    "question", ["What is the boiling point of tungsten?", "Which chess opening did the champion play?"]
)
def test_where_nothing_is_known_a_context_tells_the_nearest_and_is_not_sure(goats, question):
    context = goats.context(question, user_id="ana")
    assert context.entries
    assert not context.sure
    assert context.text.splitlines()[1] == UNSURE
    assert not goats.answer(question, user_id="ana").known
    assert goats.context("How many goats does my aunt keep?", user_id="ana").sure


def test_where_nothing_is_known_a_context_considers_twice_as_many_notes(goats):
    considered = {}
    for question in ("What is the boiling point of tungsten?", "How many goats does my aunt keep?"):
        context = goats.context(question, user_id="ana", top_k=2)
        considered[context.sure] = len(context.entries) + len(context.left_out)
    assert considered == {False: 4, True: 2}


AGREES = [
    ("english", "Is the blood type on my card?", ("ok", "Got it, cool!")),
    ("spanish", "¿Está en mi tarjeta?", ("vale",)),
]


@pytest.mark.parametrize(("language", "asks", "words"), AGREES)
def test_who_only_agrees_is_told_where_he_answers_a_question(tenant, embedder, language, asks, words):
    with Memory.connect(tenant=tenant, embedder=embedder, language=language) as memory:
        for said in words:
            for before in ("It is rare.", asks):
                memory.delete_all(user_id="ana")
                turns = [("user", "My blood type is B."), ("assistant", before), ("user", said)]
                session = f"{said} {before}"
                memory.add([{"role": who, "content": one, "session": session} for who, one in turns], user_id="ana")
                context = memory.context("What blood type do I have?", user_id="ana")
                assert any(said in entry.line for entry in context.entries) == (before == asks)
                assert "B." in context.text


@pytest.mark.parametrize("question", ["thanks, see you tomorrow!", "Hi, how are you?"])
def test_small_talk_is_told_nothing(goats, question):
    context = goats.context(question, user_id="ana")
    assert (context.text, context.entries, context.sure) == ("", (), False)
    assert set(context.left_out) == {hit.note.id for hit in goats.search(question, user_id="ana")}


def test_what_was_only_supposed_is_no_answer_unless_it_is_asked_for(memory):
    supposed = "ha. if I won the lottery I'd buy a lighthouse in Norway and live there"
    memory.add([{"id": "if", "text": supposed}, {"id": "home", "text": "I live in a flat in Porto"}], user_id="ana")
    context = memory.context("Where do I live?", user_id="ana")
    assert told(context) == {"home"}
    assert "it only supposes" in " ".join(context.left_out.values())
    assert "if" in told(memory.context("What would I buy if I won the lottery?", user_id="ana"))


def test_a_question_that_was_remembered_is_no_answer_to_itself(memory):
    memory.add([{"role": "user", "content": "When is my exam?", "id": "asked"}], user_id="ana")
    context = memory.context("When is my exam?", user_id="ana")
    assert (context.text, list(context.left_out.values())) == ("", ["it asks the same"])
    memory.add([{"role": "user", "content": "My exam is on 5 June.", "id": "told"}], user_id="ana")
    assert told(memory.context("When is my exam?", user_id="ana")) == {"told"}


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("Where do I live now?", False),
        ("Where is it that I live?", False),
        ("Where do I live since I left Porto?", True),  # it tells of Porto
        ("I live in a boat. Where do I live now?", True),
    ],
)
def test_a_question_asked_before_tells_nothing_and_replaces_nothing(memory, asked, kept):
    memory.add({"role": "user", "content": "I live in Lisbon.", "time": "2025-05-04"}, user_id="ana")
    memory.add({"role": "user", "content": asked, "time": "2025-05-25"}, user_id="ana")
    context = memory.context("Where do I live?", user_id="ana")
    assert ("Lisbon" in context.text, asked in context.text) == (True, kept)
    assert kept or "perhaps" not in context.text
    hits = memory.search("Where do I live?", user_id="ana")
    assert kept or hits[-1].note.text == asked
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("My wife is Eva, no?", "Is Eva my wife?"),
        ("What I eat is only vegan food, ok?", "Do I eat only vegan food?"),
        ("I have a meeting with Bob on Friday?", "Do I have a meeting with Bob on Friday?"),
        ("Our flight is at nine, is it not?", "When is our flight, at nine?"),
    ],
)
def test_what_is_stated_with_a_question_mark_is_told(memory, said, asked):
    memory.add({"role": "user", "content": said}, user_id="ana")
    assert said in memory.context(asked, user_id="ana").text


def test_a_question_asked_before_is_found_where_nothing_else_is(memory):
    memory.add({"role": "user", "content": "Where do I live?", "time": "2025-05-04"}, user_id="ana")
    memory.add({"role": "user", "content": "Where do I live now?", "time": "2025-05-25"}, user_id="ana")
    assert len(memory.search("Where do I live?", user_id="ana")) == 2


def test_what_was_only_supposed_is_known_in_spanish(tenant, embedder):
    supposed = "si tuviera dinero viviría en un faro de Noruega"
    with Memory.connect(tenant=tenant, embedder=embedder, language="spanish") as memory:
        memory.add([{"id": "si", "text": supposed}, {"id": "casa", "text": "Vivo en Oporto"}], user_id="ana")
        assert told(memory.context("¿Dónde vivo?", user_id="ana")) == {"casa"}


def test_what_the_user_said_is_told_and_an_assistants_words_where_they_are_more_relevant(goats):
    context = goats.context("How many goats does my aunt keep?", user_id="ana")
    assert context.entries[0].sources[0].id == "u1"
    assert told(context) == {"u1", "u2", "u3", "u4"}
    assert all("an assistant said it" in reason for reason in context.left_out.values())


@pytest.mark.parametrize(
    ("role", "said", "language"),
    [
        ("user", "Can you suggest a gluten-free cake, since my mum can't eat gluten?", "english"),
        ("user", "¿Puedes proponerme un pastel sin gluten, que mi madre es celíaca?", "spanish"),
        ("user", "Please recommend a book, I love crime novels.", "english"),
        ("user", "If I had a boat, I'd sail to Faro.", "english"),
        ("assistant", "Your landlord's code is 4417.", "english"),
        ("assistant", "El código del portal es 4417.", "spanish"),
    ],
)
@pytest.mark.parametrize("stated", [0.0, 0.05])
def test_nothing_gives_way_to_what_is_less_relevant(role, said, language, stated):
    best, other = (
        replace(hit(number, text), relevance=relevance)
        for number, (text, relevance) in enumerate([(said, 0.06), ("I like boats.", stated)])
    )
    best = replace(best, note=replace(best.note, role=role))
    for hits in ([best], [best, other], [other, best]):
        assert candidates.candidates("What may I eat?", hits, language) == (hits, {})


def test_an_assistants_words_are_told_to_who_asks_for_them(goats):
    assert "a3" in told(goats.context("Which path near Porto did you recommend?", user_id="ana"))
    assert "a1" not in told(goats.context("What does my aunt Ines keep above Sintra?", user_id="ana"))


def test_relevance_can_be_compared_between_questions_and_scores_can_not(goats):
    known = goats.search("How many goats does my aunt keep?", user_id="ana")[0]
    unknown = goats.search("What is the boiling point of tungsten?", user_id="ana")[0]
    assert unknown.relevance < 0.1 < 0.5 < known.relevance <= 1
    assert unknown.coverage == 0 < known.coverage <= 1


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("we adopted a cat called Pepper", "Do I have pets?"),
        ("our son Max is 7", "Do I have children?"),
        ("I strictly avoid gluten.", "Where shall we eat in Rome?"),
    ],
)
def test_what_is_asked_in_quite_other_words_is_told(memory, told, question):
    memory.add({"role": "user", "content": told}, user_id="ana")
    assert told in memory.context(question, user_id="ana").text
    assert not memory.context("What is the plot of Hamlet?", user_id="ana").sure


def test_what_waits_for_its_vectors_is_relevant_by_its_words(memory):
    memory.add(CHAT[:1], user_id="ana", wait=False)
    assert told(memory.context("How many goats does my aunt keep?", user_id="ana")) == {"u1"}
    assert not memory.context("What is the boiling point of tungsten?", user_id="ana").sure


def test_an_embedder_that_was_never_fitted_has_no_floor():
    assert weights("nobody/knows-it") is None
    assert weights("sentence-transformers/all-MiniLM-L6-v2") == weights("all-MiniLM-L6-v2") is not None


def test_a_search_in_the_shell_says_that_nothing_is_likely_to_answer(goats):
    tenant = goats.engine.settings.tenant
    run = lambda question: CliRunner().invoke(app, ["search", question, "--user", "ana", "--tenant", tenant])  # noqa: E731
    assert "Nothing is likely to answer this" in run("What is the boiling point of tungsten?").stderr
    assert run("How many goats does my aunt keep?").stderr == ""


def test_the_users_own_words_stand_before_an_assistants(memory):
    same = "Gouda from the market in Delft goes well with pears."
    memory.add([{"id": "a", "role": "assistant", "content": same}], user_id="ana")
    memory.add([{"id": "u", "role": "user", "content": same}], user_id="ana")
    hits = memory.search("What goes well with pears?", user_id="ana", explain=True)
    assert [hit.sources[0].id for hit in hits] == ["u", "a"]
    assert [hit.explanation.channels["role"].raw for hit in hits] == [1, 0]


def test_without_an_assistant_nobodys_words_weigh_more(memory):
    memory.add(
        [{"id": "u", "role": "user", "content": "I row."}, {"id": "n", "content": "Boats are rowed."}], user_id="b"
    )
    hits = memory.search("Who rows?", user_id="b", explain=True)
    assert {hit.explanation.channels["role"].weighted for hit in hits} == {0}


def test_what_took_the_place_of_a_note_is_told_with_it(memory):
    memory.add(
        [{"id": "old", "role": "user", "content": "I have a dog called Rex.", "time": "2024-01-01"}], user_id="ana"
    )
    memory.add([{"id": "new", "role": "user", "content": "Rex died last night.", "time": "2024-03-01"}], user_id="ana")
    context = memory.context("Do I have a dog?", user_id="ana")
    assert told(context) == {"old", "new"}
    assert "was true until 2024-03-01" in context.text
