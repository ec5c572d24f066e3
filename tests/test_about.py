"""What is known about the user is told to whoever asks for that, in whatever words it was said."""

from types import SimpleNamespace

import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.asking import reader as about
from memgraph_engine.language.questions import asked_attributes, asks_about_user
from memgraph_engine.model.scope import Scope

TOLD = ["I live in Lisbon.", "I'm allergic to peanuts.", "I work as a nurse."]
OTHER = [
    "The museum opens at nine, they say.",
    "What do you know about trains?",
    "Tell me a joke about penguins.",
    "The printer jams when the paper is damp.",
    "What does a heat pump cost?",
    "Bo knows a good carpenter.",
    "Write me a poem about rain.",
    "The ferry was late again.",
]


@pytest.mark.parametrize("profile", [True, False], ids=["with a profile", "without one"])
def test_what_a_user_told_of_himself_answers_what_is_known_about_him(tenant, embedder, profile):
    settings = Settings.load(lifecycle={"profile": "patterns" if profile else "off"})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings) as memory:
        memory.add_many([{"role": "user", "content": text} for text in (*OTHER, *TOLD)], user_id="ana")
        found = [hit.note.text for hit in memory.search("What do you know about me?", user_id="ana", top_k=5)]
        assert set(TOLD) <= set(found)
        assert all(text in memory.context("What do you know about me?", user_id="ana").text for text in TOLD)
        assert memory.search("What do you know about me?", user_id="bo") == []


def test_what_is_found_of_a_user_answers_for_sure_what_is_known_about_him(memory):
    memory.add_many([{"role": "user", "content": text} for text in TOLD], user_id="ana")
    for question in ("What do you know about me?", "Who am I?", "¿Qué sabes de mí?"):
        assert memory.context(question, user_id="ana").sure
        assert not memory.context(question, user_id="bo").sure
    assert not memory.context("What do you know about trains?", user_id="ana").sure


ASKED = [
    "What do you know about me so far?",
    "What do you know about me, please?",
    "What do you know about me now",
    "What can you tell me about me?",
    "What's in your memory about me?",
    "What is stored about me?",
    "Do you remember anything about me?",
    "Tell me everything you have on me.",
    "What have you learned about me already?",
    "Hey, what do you currently know about me?",
    "Who am I?",
    "What do you recall about myself?",
    "Can you remind me what you know about me?",
    "¿Qué sabe usted de mí?",
    "¿Qué sabes de mí hasta ahora?",
    "Por favor, ¿qué recuerdas sobre mí?",
    "¿Qué tienes guardado sobre mí?",
    "¿Quién soy yo?",
    "Dime todo lo que sabes de mí.",
    "¿Qué has aprendido de mi?",
    "¿Qué me puedes contar sobre mí?",
    "¿Qué hay en tu memoria sobre mí?",
    "¿Qué conoce usted de mí ya?",
]
OTHERWISE = [
    "What does Bo know about me?",
    "What do you know about me and Bo?",
    "What do you know about my dog?",
    "What do you like about me?",
    "What about me?",
    "Am I well?",
    "Is there a film about me?",
    "Who am I meeting?",
    "¿Qué sabes de mi perro?",
    "¿Qué sabes de mí y de Luis?",
    "¿Qué dijo Luis sobre mí?",
    "¿Y de mí?",
    "¿Quién soy para Luis?",
]


@pytest.mark.parametrize("question", [*ASKED, *(one.upper() for one in ASKED)])
def test_whoever_asks_what_is_known_about_him_is_understood_in_any_language(question):
    assert asks_about_user(question)


@pytest.mark.parametrize("question", OTHERWISE)
def test_a_question_with_any_other_matter_is_another(question):
    assert not asks_about_user(question)


ATTRIBUTES = [
    ("What's my name?", "english", {"name"}),
    ("Do you remember what my job is?", "english", {"job"}),
    ("How old am I now?", "english", {"age"}),
    ("¿Dónde vivo?", "spanish", {"residence"}),
    ("Wie heiße ich?", "german", {"name"}),
    ("Quel âge ai-je ?", "french", {"age"}),
    ("What's my sister's name?", "english", set()),
    ("Where did I live?", "english", set()),
    ("Where does Bo live?", "english", set()),
    ("When is my job interview?", "english", set()),
]


@pytest.mark.parametrize(("question", "language", "names"), ATTRIBUTES)
def test_a_question_may_ask_for_an_attribute_of_the_user_and_nothing_else(question, language, names):
    assert asked_attributes(question, language) == names


def test_a_long_text_is_no_question_for_an_attribute():
    assert asked_attributes("Where do I live? " * 60_000, "english") == frozenset()


def test_a_question_for_an_attribute_is_answered_by_what_told_it(memory):
    others = ["My sister's name is Carla.", "My mum lives in Melle.", "We name our glazes after rivers."]
    memory.add_many(
        ["hey! I'm Tomas, I run a small studio with Lieve", "I just moved to Utrecht for a job", *others], user_id="ana"
    )
    for question, told in (("What's my name?", "Tomas"), ("Where do I live?", "Utrecht")):
        context = memory.context(question, user_id="ana")
        assert context.sure
        assert told in context.entries[0].line
        assert told in memory.search(question, user_id="ana")[0].note.text
    assert not memory.context("Am I married?", user_id="ana").sure


def test_what_is_told_of_others_is_not_sure_to_answer_for_the_user(memory):
    memory.add_many(
        ["My brother lives in Porto.", "My son is allergic to eggs.", "My sister's name is Ines."], user_id="ana"
    )
    questions = "Where do I live?", "What am I allergic to?", "What's my name?"
    assert not [one for one in questions if memory.context(one, user_id="ana").sure]
    assert memory.context("What's my sister's name?", user_id="ana").sure


def test_the_largest_topics_are_looked_for_behind_the_profile(monkeypatch):
    found = SimpleNamespace(attributes=[SimpleNamespace(value="a nurse", predicate="job")])
    monkeypatch.setattr(about.decisions, "profile", lambda *_: found)
    labels = [SimpleNamespace(label=f"topic {n}") for n in range(9)]
    monkeypatch.setattr(about.topics, "every", lambda *_: labels)
    engine = SimpleNamespace(db=None, embedder=SimpleNamespace(embed_query=str.upper), language_of=lambda _: "english")
    reading = about.read_about_user(engine, Scope("acme", "ana"), "Who am I?")
    assert reading.plan.queries == ("a nurse", "topic 0", "topic 1", "topic 2", "topic 3")
    assert reading.queries == [one.upper() for one in reading.plan.queries]
    assert about.read_about_user(engine, Scope("acme", "ana"), "Where is Bo?") is None
    assert about.read_about_user(engine, Scope("acme", None), "Who am I?") is None
