"""Each language of `config/language/`: what its files list is read, and means what they say."""

import tomllib
from datetime import UTC, date, datetime, timedelta

import pytest

from memgraph_engine.gate.known import Line
from memgraph_engine.gate.update import update
from memgraph_engine.ingest.attributes import attributes
from memgraph_engine.language.date_grammar import dates_file
from memgraph_engine.language.dates import events
from memgraph_engine.language.keywords import candidates
from memgraph_engine.language.questions import asks_about_user, is_question, of_oneself, only_asks, small_talk
from memgraph_engine.language.reading import Reading
from memgraph_engine.language.references import standalone
from memgraph_engine.language.statement import statements
from memgraph_engine.language.tense import past, told_before
from memgraph_engine.language.terms import spoken, tokenize, word_list
from memgraph_engine.model.memory import Source
from memgraph_engine.resources import LANGUAGES, resource

SAID = datetime(2023, 5, 10, 15, tzinfo=UTC)
SAME = "Mein Arzt hat den Verband gewechselt.", "Mein Arzt arbeitet in Kassel.", "Mein Arzt arbeitet jetzt in Bremen."
EXAMPLES = [(name, text, days) for name in LANGUAGES for text, days in dates_file(name).get("examples", {}).items()]


@pytest.mark.parametrize(("language", "text", "days"), EXAMPLES)
def test_a_date_is_read_as_the_example_of_its_language_says(language, text, days):
    first, last = (days.split() * 2)[:2] if days else ("", "")
    spans = [(str(one.start.date()), str(one.end.date() - timedelta(1))) for one in events(text, SAID, language)]
    assert spans == ([(first, last)] if days else [])
    assert not days or date.fromisoformat(first) <= date.fromisoformat(last)


@pytest.mark.parametrize("language", sorted({*LANGUAGES} - {"standard"}))
def test_a_word_stands_for_one_thing_and_each_language_has_examples(language):
    classes = tomllib.loads(resource("config", "language", language, "words.toml").read_text(encoding="utf-8"))
    words = {kind: [entry.partition("=")[0] for entry in listed.split()] for kind, listed in classes.items()}
    assert {
        kind: [one for one in some if some.count(one) > 1] for kind, some in words.items() if len({*some}) < len(some)
    } == {}
    assert word_list(language, "time-words")
    assert dates_file(language)["examples"]


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("german", "Die Wohnungen der Ärztin", ["wohnung", "arztin"]),
        ("french", "J'ai visité l'école", ["visit", "écol"]),
        ("portuguese", "As canções da noite", ["cançõ", "noit"]),
        ("italian", "L'amica dell'avvocato", ["amic", "avvoc"]),
        ("dutch", "De fietsen van Anna", ["fiets", "anna"]),
    ],
)
def test_words_are_cut_to_the_stems_of_their_language(language, text, terms):
    assert tokenize(text, language) == terms


@pytest.mark.parametrize(
    ("language", "text", "parts", "changes"),
    [
        ("german", "Ich wohne in Kassel.", ("", "wohne in", "Kassel"), ()),
        ("german", "Meine Schwester wohnt jetzt in Ulm.", ("Meine Schwester", "wohnt jetzt in", "Ulm"), ("jetzt",)),
        ("german", "Ich wohne nicht mehr in Ulm.", ("", "wohne nicht mehr in", "Ulm"), ("nicht_mehr", "nicht~mehr")),
        ("french", "J'habite à Lyon.", ("", "habite à", "Lyon"), ()),
        ("french", "Ma sœur habite maintenant à Tours.", ("Ma sœur", "habite maintenant à", "Tours"), ("maintenant",)),
        ("french", "Je ne travaille plus chez Renault.", ("", "ne travaille plus chez", "Renault"), ("ne~plus",)),
        ("french", "L'école ferme à 16 h.", ("L'école", "ferme à", "16 h"), ()),
        ("dutch", "Ik woon in Gent.", ("", "", "Ik woon in Gent"), ()),
    ],
)
def test_a_statement_is_read_with_its_words_of_change(language, text, parts, changes):
    (one,) = statements(Reading(text, language))
    assert (one.parts, {*one.changes}) == (parts, {*changes})


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("german", "Ich wohne in Kassel.", ["residence=Kassel"]),
        ("german", "Wir sind nach Bremen gezogen.", ["residence=Bremen"]),
        ("german", "Ich wohne nicht mehr in Kassel.", ["residence=Kassel!"]),
        ("german", "Ich arbeite als Krankenpfleger bei Siemens.", ["job=Krankenpfleger", "employer=Siemens"]),
        ("german", "Ich bin gegen Nüsse allergisch.", ["allergy=nüsse"]),
        ("german", "Ich esse kein Fleisch.", ["diet=ohne fleisch"]),
        ("german", "Ich bin Vater.", []),
        ("german", "Meine Schwester wohnt in Ulm. Wenn ich in Rom wohne, lerne ich Italienisch. Wohnst du in Ulm?", []),
        ("french", "J'habite à Lyon.", ["residence=Lyon"]),
        ("french", "On a déménagé à Nantes.", ["residence=Nantes"]),
        ("french", "Je travaille comme infirmière chez Renault.", ["job=infirmière", "employer=Renault"]),
        ("french", "Je suis allergique aux noix.", ["allergy=noix"]),
        ("french", "Je ne mange pas de viande.", ["diet=sans viande"]),
        ("french", "J'ai 34 ans.", ["age=34"]),
        ("french", "Je suis fatiguée. Ma sœur habite à Tours. Si j'habitais à Rome, je marcherais.", []),
        ("dutch", "Ik woon in Gent.", []),
    ],
)
def test_who_speaks_tells_of_himself(language, text, told):
    assert [f"{one.name}={one.value}{'!' * one.ends}" for one in attributes(text, language)] == told


@pytest.mark.parametrize(
    ("language", "text", "was"),
    [
        ("german", "Ich habe gestern Pizza gegessen", True),
        ("german", "Ich habe einen Hund", False),
        ("german", "Ich bin nach Ulm gefahren", True),
        ("german", "Ich bin verheiratet", False),
        ("french", "J'ai mangé une pizza", True),
        ("french", "J'ai un chien", False),
        ("french", "Je suis allée à Lyon", True),
        ("french", "Le magasin est fermé", False),
    ],
)
def test_an_auxiliary_tells_the_past_by_what_stands_behind_it(language, text, was):
    assert past(spoken(text), language) == was


def test_a_german_noun_is_no_name_and_its_capital_tells_no_change():
    told = [Line(Source("1", text, "", speaker="Ana"), "german") for text in SAME]
    assert [one.names for line in told for one in statements(line)] == [set(), {"Kassel"}, {"Bremen"}]
    assert update(told[2], told[1], 0.7) is not None
    assert update(told[2], told[0], 0.1) is None


@pytest.mark.parametrize("text", ["", " ", "@", "\x1c"])
def test_a_text_without_a_word_asks_nothing(text):
    assert not only_asks(text, "english")


def test_questions_and_courtesies_of_each_language_are_known():
    for text in ("Was weißt du über mich?", "Que sais-tu de moi ?", "Qué sabes de mí?"):
        assert is_question(text)
        assert asks_about_user(text)
    assert not asks_about_user("Was weißt du über mich und Bo?")
    assert only_asks("Schreib mir eine Einladung. Wann ist das?", "german")
    assert only_asks("Explique-moi la photosynthèse.", "french")
    assert of_oneself("J'adore la mer.")
    assert small_talk("Vielen Dank, bis morgen!", "german")
    assert small_talk("Merci beaucoup, à bientôt !", "french")
    assert small_talk("Dank je wel, tot ziens!", "dutch")
    assert told_before("Welches Gericht hast du empfohlen?", "german")
    assert told_before("Quel plat as-tu conseillé ?", "french")


def test_keywords_are_the_nouns_of_a_german_sentence_and_the_phrases_of_a_french_one():
    assert candidates("Meine Schwester hat ein schönes Fahrrad in Ulm gekauft.", "german", speaker="") == [
        "Schwester",
        "Fahrrad",
        "Ulm",
    ]
    assert candidates("Nous avons visité le musée des beaux-arts à Lyon.", "french", speaker="") == [
        "musée des beaux-arts",
        "Lyon",
    ]


def test_a_question_stands_alone_by_what_its_pronoun_stands_for():
    class Turn:
        text, speaker, role = "Mein Bruder heißt Jonas.", "", "user"

    assert "Jonas" in standalone("Wo wohnt er?", [Turn()], "german")
