"""Where two notes share their words and disagree."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import contradictions
from memgraph_engine.gate import contradiction, facts, words
from memgraph_engine.gate import correction as corrections
from memgraph_engine.gate.contradiction import difference
from memgraph_engine.gate.correction import correction, relocation, statements
from memgraph_engine.model.text import Said, read_line


def kind(new: str, old: str, language: str = "english", speaker: str = "Ana", other: str | None = None) -> str:
    line, before = Said(speaker, new, ""), Said(speaker if other is None else other, old, "")
    states, stated = statements(line, language), statements(before, language)
    if correction(states, stated) or relocation(states, stated, later=False):
        return "corrects"
    return "differs" if difference([facts.facts(line, language)], [facts.facts(before, language)]) else "none"


@pytest.mark.parametrize("module", [contradiction, corrections, facts, words, contradictions])
def test_docstring_examples(module):
    assert doctest.testmod(module).failed == 0


@given(st.text(), st.sampled_from(["english", "spanish", "cjk", "standard"]))
def test_nothing_contradicts_itself(text, language):
    assert kind(text, text, language) == "none"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I do not like cats.", "I like cats."),
        ("I don't like cats.", "I like cats."),
        ("I don’t like cats.", "I like cats."),
        ("I never eat fish.", "I eat fish."),
        ("Ana has two cats.", "I have three cats."),
        ("Ana has 2 cats.", "I have 3 cats."),
        ("The concert is in May.", "The concert is in June."),
        ("The concert is on Friday.", "The concert is on Monday."),
        ("I travelled next week.", "I travelled last week."),
        ("I studied in Oslo.", "I studied in Bergen."),
        ("Bob sings in a choir.", "I sing in a choir."),
        ("Bob thanked Ana for the boat.", "Ana thanked Bob for the boat."),
        ("Ana was a nurse.", "Ana is a nurse."),
        ("Ana worked at the harbour.", "Ana works at the harbour."),
    ],
)
def test_a_difference_is_told(new, old):
    assert kind(new, old) == kind(old, new) == "differs"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana moved to Oslo.", "I moved to Oslo!"),
        ("Ana has three cats.", "I have 3 cats."),
        ("Ana is excited about camping.", "Can't wait to go camping!"),
        ("Ana likes cats.", "I don't know why, but I like cats."),
        ("Ana likes the harbour.", "Hey Bob! I like the harbour, don't you?"),
        ("Ana likes the harbour in Oslo.", "I like the harbour."),
    ],
)
def test_a_restatement_is_no_difference(new, old):
    assert kind(new, old) == "none"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I moved to Osaka.", "I live in Tokyo."),
        ("I no longer eat fish.", "I eat fish."),
        ("I don't eat fish anymore.", "I eat fish."),
        ("Actually the wedding is on Friday.", "The wedding is on Thursday, I hear."),
        ("I used to play the violin.", "I play the violin."),
        ("I work at Acme instead of Initech.", "I work at Initech."),
        ("No, sorry. My sister actually has three cats.", "Hi! My sister has two cats."),
        ("I stopped smoking.", "I smoke."),
        ("Bob no longer works at the bakery.", "Well, Bob works at the bakery in town."),
        ("I moved to Faro.", "I moved to Lisbon."),
        ("I actually eat fish now.", "I don't eat fish."),
        ("Bob actually likes Carla.", "Bob doesn't like Carla."),
        ("My sister actually has 3 cats.", "My sister has 2 cats."),
        ("My dentist is actually Carol.", "My dentist is Bob."),
        ("Actually the concert is in May.", "The concert is in June."),
        ("Actually the concert is tonight.", "The concert is tomorrow."),
        ("Actually the meeting is next Friday.", "The meeting is on Thursday."),
        ("I no longer swim.", "I swim in the mornings on Fridays in May."),
        ("My daughter Mia no longer plays the piano.", "My daughter Mia plays the piano."),
        ("I moved to Oslo.", "I live happily now in Bergen."),
    ],
)
def test_a_correction_is_told_by_its_cue(new, old):
    assert kind(new, old) == "corrects"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I no longer live in Lisbon, I moved to Madeira.", "The ferry to Madeira leaves at noon."),
        ("I no longer live in Lisbon. It was day 3.", "The ferry to Madeira leaves at noon. It was day 2."),
        ("I no longer live in Lisbon.", "My parents live in Lisbon."),
        ("I no longer live in Lisbon.", "I live in Porto."),
        ("I no longer eat fish.", "The children eat fish."),
        ("I no longer eat fish.", "I eat meat."),
        ("I stopped by the library.", "I went to the library."),
        ("Have you moved to Osaka?", "I live in Tokyo."),
        ("I'm moving ahead with Acme.", "I live in Tokyo."),
        ("I moved to Osaka.", "The old town of Tokyo is lovely."),
        ("Let me know if you need any more suggestions.", "Let me know if you need suggestions."),
        ("It's actually kind of fun.", "It was so much fun."),
        ("We used coconut oil instead of butter.", "I love butter."),
        ("I have not moved to Lisbon.", "I live in Porto."),
        ("If I moved to Paris I would miss you.", "I live in Porto."),
        ("My friend Max moved to Lisbon.", "My friend Leo lives in Porto."),
        ("My neighbour's son moved to York.", "My neighbour lives in Leeds."),
        ("I moved to Lisbon.", "I saw Coldplay live in Paris."),
        ("I moved to Lisbon.", "I live with Peter."),
        ("I don't drink coffee in the evening anymore.", "I drink coffee."),
        ("I no longer wear glasses when I swim.", "I wear glasses."),
        ("I no longer play tennis with Carla.", "I play tennis with Ben."),
        ("My daughter Mia no longer plays the piano.", "My daughter Zoe plays the piano."),
        ("I actually take 3 pills in the evening.", "I take 2 pills in the morning."),
        ("I actually paid 50 euros for the shoes.", "I paid 20 euros for the shirt."),
        ("Actually the meeting with Alice is on Friday.", "The meeting with Bob is on Thursday."),
        ("Actually I was in Faro last summer, with my kids.", "I live in Porto with my two kids."),
        ("Emma actually has a meeting on Friday too.", "Emma has a meeting on Monday."),
        ("I used to weigh 90 kilos.", "I weigh 70 kilos."),
        ("Actually the meeting is on Friday.", "My blood type is AB. The meeting is on Monday. My passport is red."),
        ("I no longer eat fish?", "I eat fish."),
        ("I no longer eat fish.", "Do I eat fish?"),
        ("I no longer eat fish.", "I eat fish with my parents at the big restaurant by the harbour."),
        ("I no longer eat fish.", "I no longer work, I eat fish at home."),
        ("Bob actually works with Carla.", "Bob doesn't work with Dana."),
        ("Bob actually doesn't work with Carla.", "Bob works with Dana."),
        ("Actually the meeting is on Friday.", "The meeting is on Monday. My passport is red."),
        ("Actually the meeting is on Friday.", "The meeting is on Monday. I smoke."),
        ("Actually the meeting with my lawyer is on Friday.", "The meeting is on Thursday."),
        ("The meeting is actually on Friday.", "The meeting about the bridge of the city council is on Thursday."),
        ("The choir actually has Alice and Carol.", "The choir has Bob and Dave."),
        ("I moved to town.", "I live in Porto."),
        ("Years ago I moved to Milan.", "I live in Rome."),
        ("I had moved to Milan.", "I live in Rome."),
        ("At 18 I moved to Milan to study.", "I live in Rome."),
        ("I moved to Milan in 1999.", "I live in Rome."),
        ("I moved to Milan for a summer.", "I live in Rome."),
        ("I moved to Milan, but came back.", "I live in Rome."),
        ("I moved to Milan, then to Rome.", "I live in Rome."),
        ("My brother-in-law moved to Bergen.", "My brother lives in Oslo."),
        ("My other colleague moved to Bergen.", "My colleague lives in Oslo."),
        ("The other cat moved to Milan.", "The cat lives in Rome."),
        ("A colleague moved to Bergen.", "A colleague lives in Oslo."),
        ("One of my sons moved to Bergen.", "One of my sons lives in Oslo."),
        ("Actually I have a meeting with Bo on Tuesday as well.", "I have a meeting with Bo on Monday."),
        ("I stopped to smoke.", "I smoke."),
        ("I no longer like tea, just kidding!", "I like tea."),
        ("Tom is no longer my boss.", "Tom is my boss and lives in Kent."),
        ("Ya no bebo café por la noche.", "Bebo café."),
        ("Ya no trabaja en el acuario.", "Trabajo en el acuario."),
        ("Ya no come pescado mi hermano.", "Mi hermana come pescado."),
        ("Ya no vivo en Lisboa.", "Mis padres viven en Lisboa."),
        ("Ya no como pescado.", "El gato come pescado."),
    ],
)
def test_what_shares_words_and_not_the_matter_is_not_corrected(new, old):
    language = "spanish" if "Ya no" in new else "english"
    assert kind(new, old, language) != "corrects"


@pytest.mark.parametrize("language", ["english", "spanish", "cjk"])
@pytest.mark.parametrize("around", ["{}", "Well, {} then.", "I {}", "un{}", "{}-ish", "non-{}", "{}'s"])
def test_a_line_announces_a_correction_where_its_facts_have_a_cue(language, around):
    for cue in sorted(words.lists_of(language).corrections) or ["moved_to"]:
        for phrase in (cue.replace("_", " "), cue.replace("_", "\u00a0 "), cue.replace("_", ", ").upper()):
            said = Said("Ana", around.format(phrase), "")
            assert facts.announces(said, language) == bool(facts.facts(said, language).cues), said.text


def test_a_cue_in_the_old_note_corrects_nothing():
    assert kind("I eat fish.", "I no longer eat fish.") == "differs"


def test_a_cue_about_another_matter_corrects_nothing():
    assert kind("I moved to Osaka.", "I ordered a lamp from Tokyo.") == "differs"


def test_a_cue_of_another_speaker_corrects_nothing():
    assert kind("I no longer eat fish.", "I eat fish.", speaker="Bob", other="Ana") == "differs"


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("No me gustan los gatos.", "Me gustan los gatos.", "differs"),
        ("Nunca como pescado.", "Como pescado.", "differs"),
        ("Ya no como pescado.", "Como pescado.", "corrects"),
        ("Tengo dos gatos.", "Tengo tres gatos.", "differs"),
        ("El concierto es el viernes.", "El concierto es el lunes.", "differs"),
        ("El concierto es en mayo.", "El concierto es en junio.", "differs"),
        ("Me mudé a Sevilla.", "Vivo en Madrid.", "corrects"),
        ("Me mudé a Sevilla hace diez años.", "Vivo en Madrid.", "differs"),
        ("Mi hermano se mudó a Sevilla.", "Mi hermana vive en Madrid.", "differs"),
        ("Un amigo se mudó a Sevilla.", "Un amigo vive en Madrid.", "differs"),
        ("Mi hermana se mudó a Sevilla.", "Mi hermana vive en Madrid.", "corrects"),
        ("Ya no trabajo en el acuario.", "Trabajo en el acuario.", "corrects"),
        ("Tengo dos gatos.", "¡Tengo 2 gatos!", "none"),
        ("Mi abuela vive en Sevilla.", "Mi abuelo vive en Sevilla.", "differs"),
        ("La vecina toca el piano.", "El vecino toca el piano.", "differs"),
        ("Mi doctora es amable.", "Mi doctor es amable.", "differs"),
        ("Mi abuela la llevo al parque.", "Mi abuela la lleva al parque.", "none"),
        ("Mi abuela y mi abuelo viven aquí.", "Mi abuelo y mi abuela viven aquí.", "none"),
    ],
)
def test_spanish(new, old, expected):
    assert kind(new, old, "spanish") == expected


@pytest.mark.parametrize("language", ["cjk", "standard"])
def test_other_languages_tell_numbers(language):
    assert kind("猫が3匹います", "猫が2匹います", language) == "differs"
    assert kind("猫が3匹います", "猫が3匹います", language) == "none"


def test_the_time_of_saying_is_no_date():
    lines = [f"Ana: I sing in a choir. (1:56 pm on {day})" for day in ("8 May, 2023", "3 June, 2024")]
    new, old = ([facts.facts(read_line(one, "Ana"), "english")] for one in lines)
    assert difference(new, old) == ""


def test_a_merged_note_differs_if_any_line_does():
    new = [facts.facts(Said("Ana", "I have two cats.", ""), "english")]
    old = [facts.facts(Said("Ana", text, ""), "english") for text in ("My cats are fun.", "I have three cats.")]
    assert difference(new, old)


def test_the_evidence_is_a_sentence():
    new, old = ([facts.facts(Said("Ana", f"I have {n} cats.", ""), "english")] for n in ("two", "three"))
    assert difference(new, old) == 'They differ in a number: "2", not "3".'
