"""What an answer made of the notes that were shown for it, and what each is worth from then on."""

from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine import InvalidInput, NotFound
from memgraph_engine.asking.reflection import Judge
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.errors import QueryFailed
from memgraph_engine.graph import usage
from memgraph_engine.language.references import as_own
from memgraph_engine.model.memory import Note, Source
from memgraph_engine.testing import HashingEmbedder, ScriptedChat
from tests.models import memory_with
from tests.test_cli import cli, typed  # noqa: F401  fixtures
from tests.test_use import ANA, HERON, TIDE, connected, counted, note  # noqa: F401  fixtures

NOW = datetime(2024, 5, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FERRY = "The ferry to Madeira leaves at 7 from gate 4."


def judged(answer, *texts, question="What is it?", cited=(), language="english"):
    """What an answer made of notes that say this, by their places."""
    notes = []
    for place, text in enumerate(texts):
        said = Source(f"s{place}", text, "", speaker="Ana", role="user", said_at=NOW)
        raw = (f"Ana: {text}",)
        notes.append(
            Note(str(place), raw, text, "active", "", 0, "Ana", "user", "", *[NOW] * 6, sources=(said,)),
        )
    embedder = CheckedEmbedder(HashingEmbedder(256, "all-MiniLM-L6-v2"))
    return Judge(question, answer, notes, set(cited), language, len(notes), embedder, NOW).judged()


def outcomes(*given, **more):
    return [outcome for outcome, _ in judged(*given, **more)]


def test_what_is_cited_was_used():
    told = judged("You have a dog [2].", "My cat is called Tom.", "I have a dog.", cited=["1"])
    assert told[1] == ("used", "It was cited.")
    assert told[0][0] == "unused"


def test_a_name_or_a_rare_word_tells_from_which_note_it_is():
    told = judged("You live in Faro now.", "I live in Lisbon.", "I moved to Faro.", "My cat is called Tom.")
    assert told == [
        ("unused", "Nothing of it is in the answer."),
        ("used", 'Of the notes shown it alone has "Faro".'),
        ("unused", "Nothing of it is in the answer."),
    ]


def test_a_number_tells_it_too():
    flights = "My flight to Rome leaves at 9 from gate 4.", "My flight to Oslo leaves at 7 from gate 12."
    assert outcomes("It leaves at 7 from gate 12.", *flights) == ["unused", "used"]


def test_a_day_tells_it_as_the_note_means_it():
    said = "I sailed yesterday.", "I rowed on Sunday, and sailed again."  # on a Wednesday
    told = judged("It was on 30 April 2024.", *said, question="When did Ana sail?")
    assert told[0] == ("used", "Of the notes shown it alone tells of 2024-04-30.")
    assert told[1][0] == "unused"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("My train leaves at 7.", "Your train leaves at 9."),
        ("I live in Ghent.", "You live in Antwerp."),
        ("My boss is Karin.", "Sure! Your boss is Peter."),
        ("I'm allergic to peanuts.", "You're not allergic to peanuts."),
        ("I hate coriander.", "You love coriander."),
        ("I play the cello.", "You play the violin."),
        ("I'm single.", "You are married."),
        ("I quit the choir.", "You sing in the choir on Mondays."),
    ],
)
def test_an_answer_that_tells_the_user_otherwise_contradicts_what_he_said(said, answer):
    told = judged(answer, said, "I have a boat called Tilda.")
    assert told[0][0] == "contradicted"
    assert told[0][1].startswith("The answer contradicts it. ")
    assert told[1][0] == "unused"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("My train leaves at 7.", "Your train leaves at 7, so leave home at 6."),
        ("I live in Ghent.", "You live in Ghent. The museum is in Antwerp."),
        ("My sister's name is Petra.", "Your brother is called Anton."),
        ("I hate coriander.", "Use parsley in place of coriander."),
        ("I'm single.", "I don't know whether you are married."),
        ("My flight to Rome leaves at 9.", "Your flight to Oslo leaves at 7."),
        ("My boss is Karin.", 'You could write: "My boss is Peter."'),
        ("Is my boss Karin?", "Your boss is Peter."),
        ("I like hiking.", "You like hiking and cycling."),
    ],
)
def test_an_answer_that_tells_the_same_or_of_another_thing_contradicts_nothing(said, answer):
    assert "contradicted" not in outcomes(answer, said)


@pytest.mark.parametrize(
    ("language", "said", "own"),
    [
        ("english", "You're late, and your keys are yours.", "I'm late, and my keys are mine."),
        ("german", "Dein Zug fährt um 9, du bist spät.", "Mein Zug fährt um 9, ich bin spät."),
        ("french", "Ton train part à 9 h, tu es en retard.", "Mon train part à 9 h, je suis en retard."),
        ("spanish", "Tu tren sale a las 9, tú tienes las llaves.", "Mi tren sale a las 9, yo tengo las llaves."),
        ("italian", "Il tuo treno parte alle 9.", "Il tuo treno parte alle 9."),
    ],
)
def test_what_is_said_to_somebody_is_read_as_his_own(language, said, own):
    assert as_own(said, language) == own


def test_where_two_notes_differ_an_answer_that_follows_one_contradicts_none():
    assert outcomes("You live in Faro now.", "I live in Lisbon.", "I moved to Faro.") == ["unused", "used"]


def test_what_the_question_holds_or_several_notes_have_tells_nothing():
    both = "I saw a heron at the harbour.", "The heron at the harbour eats."
    told = judged("At the harbour, the heron!", *both, question="Where is the heron?")
    assert not any("alone" in why for _, why in told)
    told = judged("Faro!", "I moved to Faro.", "My cat is called Tom.", question="Is it Faro?")
    assert not any("alone" in why for _, why in told)


def test_a_common_word_is_a_name_where_it_is_written_as_one():
    texts = "I met a friend called Hope.", "I met a friend."
    assert outcomes("It was your friend Hope.", *texts) == ["used", "unused"]
    assert judged("I hope so.", *texts)[0][1] != 'Of the notes shown it alone has "hope".'


def test_what_the_answer_contradicts_is_told_with_the_evidence():
    (told,) = judged("The ferry to Madeira leaves at 9 from gate 4.", FERRY)
    assert told == ("contradicted", 'The answer contradicts it. They differ in a number: "9", not "7".')
    assert outcomes("The ferry to Madeira leaves at 9 from gate 4 [1].", FERRY, cited=["0"]) == ["used"]


def test_another_fact_of_the_same_kind_is_no_contradiction():
    both = FERRY, "The ferry to Faro leaves at 9 from gate 12."
    assert outcomes("The ferry to Faro leaves at 9 from gate 12.", *both) == ["unused", "used"]


def test_only_where_no_word_tells_it_does_relation_count():
    asked = "Does Bo like eating fish?"
    told = judged("Yes, Bo likes to eat fish.", "Bo likes eating fish.", "The tide turns at noon.", question=asked)
    assert [one[0] for one in told] == ["used", "unused"]
    assert told[0][1].startswith("It is related to the answer (")
    named = "Bo likes eating fish.", "I met Xanthe."
    assert outcomes("Bo likes to eat fish with Xanthe.", *named, question=asked) == ["unused", "used"]


def test_only_the_first_five_are_unused():
    assert (
        outcomes("I can't tell.", *[f"Row {place} of boats." for place in range(7)]) == ["unused"] * 5 + ["shown"] * 2
    )


# ---- kept ---------------------------------------------------------------------------------------


def test_a_reflection_keeps_what_each_note_is_worth(connected):  # noqa: F811
    memory = connected()
    heron, tide = note(memory.add(HERON, **ANA)), note(memory.add(TIDE, **ANA))
    told = memory.reflect("What does the heron eat?", [heron, tide], "The heron eats fish at the harbour.", **ANA)
    assert [(one.note, one.outcome, one.before, one.utility) for one in told.notes] == [
        (heron, "used", 30, 40),
        (tide, "unused", 30, 28),
    ]
    found = counted(memory)
    assert (found[heron].shown, found[heron].used, found[heron].last_used) == (1, 1, memory.engine.now())
    assert (found[tide].shown, found[tide].used, found[tide].last_used) == (1, 0, None)


def test_what_a_context_showed_is_not_counted_again(connected):  # noqa: F811
    memory = connected()
    heron = note(memory.add(HERON, **ANA))
    shown = memory.context("What does the heron eat?", **ANA)
    assert memory.reflect(shown.query, shown, "It eats fish [1].", **ANA).notes[0].why == "It was cited."
    assert (counted(memory)[heron].shown, counted(memory)[heron].utility) == (1, 40)


def test_hits_and_sources_name_notes_too(connected):  # noqa: F811
    memory = connected()
    heron = note(memory.add(HERON, id="m1", **ANA))
    hits = memory.search("What does the heron eat?", **ANA)
    memory.reflect("What does the heron eat?", hits, "Fish.", **ANA)
    memory.reflect("What does the heron eat?", ["m1", heron], "Fish.", **ANA)
    assert counted(memory)[heron].shown == 2
    with pytest.raises(NotFound, match="'m7'"):
        memory.reflect("What does the heron eat?", ["m7"], "Fish.", **ANA)
    with pytest.raises(InvalidInput, match="shown must be a context"):
        memory.reflect("What does the heron eat?", "m1", "Fish.", **ANA)


def test_a_reflection_is_kept_where_it_is_asked_for_but_with_off(connected):  # noqa: F811
    memory = connected("auto")
    heron = note(memory.add(HERON, **ANA))
    assert memory.reflect("What does it eat?", [heron], "Fish.", **ANA).notes[0].utility == 40
    silent = connected("off")
    told = silent.reflect("What does it eat?", [heron], "Fish.", **ANA)
    assert (told.notes[0].outcome, told.notes[0].utility) == ("used", None)
    assert counted(memory)[heron].utility == 40


def test_a_reader_of_a_shared_note_moves_nobody_elses_utility(connected):  # noqa: F811
    memory = connected()
    heron = note(memory.add(HERON, shared=True))
    memory.add("Good night!", **ANA)
    memory.reflect("What does it eat?", [heron], "Fish.", **ANA)
    assert counted(memory)[heron].utility == 40
    assert counted(memory, "bo") == {}


def test_a_false_fact_sinks_below_the_true_one(connected):  # noqa: F811
    memory = connected()
    false = note(memory.add(FERRY, **ANA))
    true = note(memory.add("Departures: Madeira at 9, gate 4.", **ANA))
    told = memory.reflect("When does it leave?", [false, true], "The ferry to Madeira leaves at 9 from gate 4.", **ANA)
    assert [(one.outcome, one.utility) for one in told.notes] == [("contradicted", 0), ("used", 40)]


@pytest.fixture
def answering(tenant, embedder):
    """A memory whose model gives this answer, and that counts use."""

    def connect(answer, record="on"):
        return memory_with(tenant, embedder, ScriptedChat([answer]), only=["answering"], use={"record": record})

    return connect


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_reflects_by_itself(answering, stream):
    with answering("It eats fish [1].") as (memory, _):
        heron = note(memory.add(HERON, **ANA))
        if stream:
            for piece in memory.answer_stream("What does the heron eat?", **ANA):
                last = piece  # nobody comes back after it
            assert last.text == "It eats fish [1]."
        else:
            memory.answer("What does the heron eat?", **ANA)
        assert (counted(memory)[heron].shown, counted(memory)[heron].utility) == (1, 40)


def test_an_answer_that_knows_nothing_used_nothing(answering):
    with answering("UNKNOWN") as (memory, _):
        heron = note(memory.add(HERON, **ANA))
        memory.answer("What does the heron eat?", **ANA)
        assert counted(memory)[heron].utility == 28


def test_an_answer_reflects_on_nothing_where_nothing_reads_it(answering):
    with answering("It eats fish [1].", "auto") as (memory, _):
        memory.add(HERON, **ANA)
        memory.answer("What does the heron eat?", **ANA)
        assert counted(memory) == {}


def test_an_answer_is_given_though_its_use_cannot_be_kept(answering, monkeypatch, caplog):
    def refused(*_):
        raise QueryFailed("Neo.ClientError.Security.Forbidden", "This account may only read.")

    with answering("It eats fish [1].") as (memory, _):
        memory.add(HERON, **ANA)
        monkeypatch.setattr(usage, "change", refused)
        assert memory.answer("What does the heron eat?", **ANA).text == "It eats fish [1]."
        assert "may only read" in caplog.text


def test_an_answer_without_text_is_refused(connected):  # noqa: F811
    memory = connected()
    memory.add(HERON, **ANA)
    answer = memory.answer("What does the heron eat?", **ANA)
    with pytest.raises(InvalidInput, match="has no text"):
        memory.reflect("What does the heron eat?", answer.context, answer, **ANA)


def test_the_command_line_reflects(cli):  # noqa: F811
    cli("add", HERON, "--id", "m1")
    told = cli("reflect", "What does the heron eat?", "It eats fish.", "--shown", "m1").stdout
    assert '  used  30 -> 40  Of the notes shown it alone has "fish".' in told
    assert "Missing option '--shown'" in cli("reflect", "What does it eat?", "Fish.", code=2).stderr
