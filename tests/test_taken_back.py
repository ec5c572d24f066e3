"""What a correction takes back is marked, and nothing else that was said with it is hidden, by generation."""

import re
from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import example, given, settings, strategies as st

from bench.statements import Statements, verdict
from memgraph_engine import Settings
from memgraph_engine.testing import HashingEmbedder

EMBEDDER, SETTINGS = HashingEmbedder(64), Settings.load()


@dataclass(frozen=True)
class Said:
    """A statement, what takes it back ('' for nothing), and the words that only it has."""

    text: str
    correction: str
    words: tuple[str, ...]


def filled(told, corrected, *values):
    """Return a statement for each row of values, by its templates."""
    return [
        Said(told.format(*row), corrected.format(*row), tuple(one for one in row if one in told.format(*row)))
        for row in values
    ]


def one(*values):
    return [(value,) for value in values]


def changed(things, *values):
    """Return rows of a thing, its value, and the one after it."""
    after = dict(zip(values, [*values[1:], values[0]], strict=True))
    return [(thing, value, after[value]) for thing, value in product(things, values)]


PEOPLE = [*product(("sister", "cousin"), ("Petra", "Ines"), ("Bolzano", "Faro"))]
GENTE = [*product(("hermana", "prima"), ("Petra", "Inés"), ("Burgos", "Faro"))]
ENGLISH = [
    *filled("I'm allergic to {}.", "I'm no longer allergic to {}.", *one("nuts", "penicillin", "latex", "pollen")),
    *filled("I eat {}.", "I no longer eat {}.", *one("fish", "meat", "eggs", "cheese", "mushrooms")),
    *filled("I drink {}.", "I don't drink {} any more.", *one("coffee", "wine", "milk")),
    *filled("I work at {}.", "I don't work at {} any more.", *one("Acme", "Initech", "Globex")),
    *filled("I swim on {}.", "I no longer swim on {}.", *one("Mondays", "Fridays", "weekends")),
    *filled("My {} {} lives in {}.", "My {} {} no longer lives in {}.", *PEOPLE),
    *filled("{} plays the {}.", "{} doesn't play the {} any more.", *product(("Mia", "Leo"), ("piano", "cello"))),
    *filled("{}'s flight is on {}.", "Actually, {0}'s flight is on {2}.", *changed(("Ola", "Per"), "Monday", "Friday")),
    *filled("The {} is in {}.", "Actually, the {0} is in {2}.", *changed(("concert", "exam"), "June", "March")),
    *filled("My {} is at {}.", "Correction: my {0} is at {2}.", *changed(("train", "class"), "9:30", "7:10")),
    *filled("My {} is {}.", "My {0} is {2} now.", *changed(("car", "sofa", "bike"), "red", "blue")),
    *filled("I have {1} {0}.", "I have {2} {0} now.", *changed(("hens", "goats", "ducks"), "14", "6")),
    *filled("{}", "", *one("My uncle is diabetic.", "He is a vegan.", "It hurts at night.", "We married in 2011.")),
    *filled("{}", "", *one("Don't call me before noon.", "I love jazz.", "I hate olives.", "She speaks Finnish.")),
]
SPANISH = [
    *filled("Soy alérgico a {}.", "Ya no soy alérgico a {}.", *one("cacahuetes", "penicilina", "polen", "mariscos")),
    *filled("Como {}.", "Ya no como {}.", *one("pescado", "carne", "huevos", "queso")),
    *filled("Trabajo en {}.", "Ya no trabajo en {}.", *one("Acme", "Initech")),
    *filled("Mi {} {} vive en {}.", "Mi {} {} ya no vive en {}.", *GENTE),
    *filled(
        "El vuelo de {} es el {}.",
        "En realidad, el vuelo de {0} es el {2}.",
        *changed(("Ola", "Per"), "lunes", "viernes"),
    ),
    *filled("Tengo {1} {0}.", "Ahora tengo {2} {0}.", *changed(("gallinas", "cabras"), "14", "6")),
    *filled("Peso {} kilos.", "Ahora peso {1} kilos.", ("82", "78"), ("64", "66")),
    *filled("{}.", "Ya no {1}.", ("Fumo", "fumo"), ("Nado", "nado")),
    *filled("{}", "", *one("Es diabética.", "Me encanta el jazz.", "Odio las aceitunas.", "Nos casamos en 2011.")),
    *filled("{}", "", *one("Tengo asma.", "Soy vegana.", "Prefiero el pasillo.", "Vivo con mi tía.")),
]
PAIRS = {
    language: [(said, beside) for said, beside in product(some, some) if said.correction and said.text != beside.text]
    for language, some in (("english", ENGLISH), ("spanish", SPANISH))
}
BOTH = [(language, *pair) for language, pairs in PAIRS.items() for pair in pairs]
JOINTS = {"english": (". ", "; ", " and ", ", ", "\n"), "spanish": (". ", "; ", " y ", ", ", "\n")}


def message(language, said, beside, joint, *, first):
    """Return one message of the two statements."""
    one, other = (said.text, beside.text) if first else (beside.text, said.text)
    names = ("I ", "I'm", "Mia", "Leo", "Ola", "Per")
    small = other if joint in (". ", "\n") or other.startswith(names) else other[0].lower() + other[1:]
    return one.rstrip(".") + joint + small


def judged(language, old, new):
    """Return what the gate makes of a correction, with the first tie that marks what it ends, None for none."""
    made = verdict(Statements("", language, "different", old, new), EMBEDDER, SETTINGS)
    return made, next((tie for tie in made.ties if tie.kind == "change"), None)


@settings(max_examples=150, deadline=None)
@given(pair=st.sampled_from(BOTH), joint=st.integers(0, 4), first=st.booleans())
@example(pair=("english", ENGLISH[0], ENGLISH[1]), joint=0, first=True)
@example(pair=("english", ENGLISH[4], ENGLISH[5]), joint=0, first=False)
@example(pair=next(one for one in BOTH if one[1].text == "Fumo." and one[2].text == "Tengo asma."), joint=2, first=True)
@example(pair=("spanish", *(one for one in SPANISH if one.words in (("Initech",), ("Acme",)))), joint=1, first=True)
def test_a_correction_of_one_statement_hides_no_other_and_marks_none(pair, joint, first):
    language, said, beside = pair
    old = message(language, said, beside, JOINTS[language][joint], first=first)
    made, tie = judged(language, old, said.correction)
    assert made.kind in ("link", "append"), old
    if tie:
        own = set(beside.words) - set(said.words)
        assert tie.former, old
        assert own.isdisjoint(re.findall(r"[\w:]+", tie.former)), (old, tie.former)  # "Mondays" has no "Monday"


def test_nearly_all_that_is_taken_back_is_marked():
    some = PAIRS["english"][::31]
    marked = [bool(judged("english", f"{said.text} {beside.text}", said.correction)[1]) for said, beside in some]
    assert sum(marked) >= 0.95 * len(some)


@pytest.mark.parametrize(
    ("language", "said"), [("english", ENGLISH[0]), ("english", ENGLISH[4]), ("spanish", SPANISH[0])]
)
def test_a_statement_that_stands_alone_is_replaced(language, said):
    assert judged(language, said.text, said.correction)[0].kind == "supersede"


@pytest.mark.parametrize("language", ["english", "spanish"])
def test_what_was_said_beside_it_is_found_and_told(tenant, embedder, language):
    from memgraph_engine import Memory

    pairs = PAIRS[language][:: len(PAIRS[language]) // 14]
    with Memory.connect(tenant=tenant, embedder=embedder, language=language) as memory:
        for place, (said, beside) in enumerate(pairs):
            user = f"u{place}"
            (kept,) = memory.add(f"{said.text} {beside.text}", user_id=user, time="2024-01-05").entries
            memory.add(said.correction, user_id=user, time="2024-03-05")
            hits = {hit.note.id: hit for hit in memory.search(beside.text, user_id=user)}
            assert kept.note in hits, beside.text
            assert beside.text.rstrip(".") not in hits[kept.note].former
            assert not hits[kept.note].until or hits[kept.note].former
            assert beside.text in memory.context(beside.text, user_id=user).text


LEFT = [
    ("english", "I eat only fish.", "I no longer eat fish."),
    ("english", "I eat only fish.", "I can eat fish."),
    ("english", "I live with her in Rome.", "I no longer live in Rome."),
    ("english", "My son lives in Faro with me.", "My son no longer lives in Faro."),
    ("english", "I live in Oslo.", "Jack said\n\nI no longer live in Oslo."),
    ("english", "My class on Monday is at 9.", "Actually, my class on Friday is at 9."),
    ("spanish", "Como solo pescado.", "Ya no como pescado."),
    ("spanish", "Vivo en Roma con ella.", "Ya no vivo en Roma."),
    ("spanish", "Trabajo con él en Acme.", "Ya no trabajo en Acme."),
]


BESIDE = [
    ("english", "I weigh 64 kilos and I weigh 82 kilos.", "I weigh 78 kilos now.", None),
    ("english", "I work at Acme. I work at Initech.", "I work at Globex now.", None),
    ("english", "I row on Monday and on Friday.", "I row on Tuesday and on Friday now.", "I row on Monday"),
    ("english", "My sofa is red and my sofa is blue.", "My sofa is blue now.", None),
    ("spanish", "Peso 82 kilos; peso 64 kilos.", "Ahora peso 78 kilos.", None),
    ("spanish", "Nado y mi prima vive en Faro.", "Mi prima ya no vive en Faro.", "mi prima vive en Faro"),
]


@pytest.mark.parametrize(("language", "old", "new", "former"), BESIDE)
def test_a_change_marks_one_of_two_statements_only_where_it_tells_which(language, old, new, former):
    tie = judged(language, old, new)[1]
    assert (tie and tie.former) == former


@pytest.mark.parametrize(("language", "old", "new"), LEFT)
def test_a_note_stays_while_a_correction_leaves_a_word_of_it_as_it_was(language, old, new):
    assert judged(language, old, new)[0].kind != "supersede"
