"""What happened by one day excludes nothing that happened by another; what is, does."""

import doctest

import pytest

from memgraph_engine.language import tense
from memgraph_engine.language.tense import happened
from memgraph_engine.language.terms import word_values

BOTH = [
    ("english", "The taxi to the airport cost 30 euros, what a rip-off.", "The taxi to the airport cost 42 euros."),
    ("english", "I just ran 5 km.", "I finally ran 8 km."),
    ("english", "We ate at Nino's.", "We ate at Carlo's again."),
    ("english", "Dinner at the Thai place was 40 euros.", "Dinner at the Thai place was 55 euros."),
    ("english", "I called Tom at the office.", "I called Eva at the office."),
    ("english", "The mechanic charged me 200 euros.", "The mechanic charged me 340 euros."),
    ("english", "My daughter scored 2 goals.", "So proud: my daughter scored 3 goals and I am hoarse."),
    ("spanish", "El taxi al aeropuerto me costó 30 euros.", "El taxi al aeropuerto me costó 42 euros."),
    ("spanish", "Hoy he corrido 5 km.", "Hoy he corrido 8 km."),
    ("spanish", "Comimos en Casa Paco.", "Comimos en Casa Lola otra vez."),
    ("spanish", "La factura de la luz fue de 80 euros.", "La factura de la luz fue de 120 euros."),
    ("english", "Ran 5k today!", "Did 8 km this morning."),
    ("spanish", "Preparé 3 tartas.", "Preparé 5 tartas."),
]
ONE = [
    ("english", "My rent is 840 euros.", "My rent is 900 euros."),
    ("english", "I live in Lisbon.", "I live in Porto."),
    ("english", "I have saved 600 euros.", "I've saved 900 euros."),
    ("english", "I was born in Leeds.", "I was born in York."),
    ("english", "I like 2 boiled eggs.", "I like 3 boiled eggs."),
    ("english", "My son eats 3 boiled eggs.", "My son eats 2 boiled eggs."),
    ("english", "The used car costs 4000 euros.", "The used car costs 3500 euros."),
    ("english", "My wedding is planned for May.", "My wedding is planned for June."),
    ("english", "The meeting was moved to 5.", "They moved the meeting to 6."),
    ("english", "I work in a shop called Lumen.", "I work in a shop called Bodega."),
    ("english", "The fox took two hens, we're at 9.", "Bo gave me four hens, so that's 13."),
    ("english", "The fox got two.", "Bo gave me more. I have 13 in the coop."),
    ("english", "The gym cost 30 euros.", "The gym costs 35 euros."),
    ("spanish", "Mi alquiler cuesta 840 euros.", "Mi alquiler cuesta 900 euros."),
    ("spanish", "El código del café es 4471.", "El código del café es 9132."),
    ("spanish", "Iré a Roma en mayo.", "Iré a Roma en junio."),
    ("spanish", "Nací en Cádiz.", "Nací en Huelva."),
    ("standard", "Das Taxi kostete 30 Euro.", "Das Taxi kostete 42 Euro."),
]
MAY, JUNE = "2025-05-03T07:30:00", "2025-06-15T08:00:00"


def test_docstring_examples():
    assert doctest.testmod(tense).failed == 0


@pytest.mark.parametrize(("language", "old", "new"), BOTH)
def test_what_happened_may_happen_another_day(language, old, new):
    assert happened(new, old, language)


@pytest.mark.parametrize(("language", "old", "new"), ONE)
def test_what_is_has_one_value_at_a_time(language, old, new):
    assert not happened(new, old, language)


@pytest.mark.parametrize(
    ("old", "new", "question", "contrary"),
    [
        (*BOTH[0][1:], "How much did the taxi to the airport cost?", False),
        ("I ran 5 km along the river.", "I ran 8 km along the river again.", "How far did I run?", False),
        (*ONE[0][1:], "How much is my rent?", True),
    ],
    ids=["two rides", "two runs", "one rent"],
)
def test_a_state_is_contrary_to_another_and_no_event_is(memory, old, new, question, contrary):
    told = [{"role": "user", "content": text, "time": time} for text, time in ((old, MAY), (new, JUNE))]
    note = memory.add(told, user_id="ana").entries[1].note
    assert ("conflict" in {tie.kind for tie in memory.explain(note, user_id="ana").ties}) == contrary
    entries = memory.context(question, user_id="ana").entries
    assert len(entries) == 2
    assert [remark for entry in entries for remark in entry.remarks if not remark.startswith("later than")] == []


def test_what_happened_is_denied_on_another_day_all_the_same(memory):
    told = ("I adopted a grey cat in Porto.", MAY), ("I did not adopt a grey cat in Porto.", JUNE)
    messages = [{"role": "user", "content": text, "time": time} for text, time in told]
    note = memory.add(messages, user_id="ana").entries[1].note
    assert [tie.kind for tie in memory.explain(note, user_id="ana").ties] == ["conflict"]


def test_of_a_word_of_any_length_no_more_is_looked_up_than_the_longest_listed_ending():
    for language in ("english", "french", "german", "spanish"):
        endings = [one[1:] for one in word_values(language, "tenses") if one[0] == "-"]
        assert max(map(len, endings)) <= tense._ENDING
        assert tense._tense("x" * 9999 + endings[0], word_values(language, "tenses"))
