"""Facts are what was stated, clause by clause, each until something else was said."""

import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from memgraph_engine import InvalidInput, Memory, Settings
from memgraph_engine.cli import app
from memgraph_engine.gate.known import Line
from memgraph_engine.language.assertion import assertions
from memgraph_engine.language.reading import Reading
from memgraph_engine.language.statement import statements
from memgraph_engine.model.memory import Source

ANA = {"user_id": "ana"}


# ---- what a clause tells of what, without a database ----------------------------------------


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("My sister Petra lives in Bolzano.", "english", ("My sister Petra", "lives in", "Bolzano")),
        ("I'm allergic to nuts.", "english", ("", "am allergic to", "nuts")),
        ("I do not eat fish.", "english", ("", "do not eat", "fish")),
        ("My wifi password is heron42.", "english", ("My wifi password", "is", "heron42")),
        ("I have two cats.", "english", ("", "have", "two cats")),
        ("I'm a vet nurse.", "english", ("", "am", "a vet nurse")),
        ("Last May I moved to York.", "english", ("", "moved to", "York")),
        ("Lea and Tom are married.", "english", ("Lea and Tom", "are married", "")),
        ("Inés y mi prima viven en Faro.", "spanish", ("Inés y mi prima", "viven en", "Faro")),
        ("Ana, Tom and Ben live in Leeds.", "english", ("Ana, Tom and Ben", "live in", "Leeds")),
        ("Ana, my sister, is a nurse.", "english", ("Ana", "is", "a nurse")),
        ("I go to Basic-Fit twice a week.", "english", ("", "go to", "Basic-Fit twice a week")),
        ("The car is in the garage until 18 May.", "english", ("The car", "is in", "the garage until 18 May")),
        ("June is my aunt.", "english", ("June", "is", "my aunt")),
        ("Waffle is a beagle.", "english", ("Waffle", "is", "a beagle")),
        ("Noor's got two cats.", "english", ("Noor", "has got", "two cats")),
        ("She's been vegan for a year.", "english", ("she", "has been vegan for", "a year")),
        ("Eli takes drops twice a day.", "english", ("Eli", "takes", "drops twice a day")),
        ("Our neighbour repairs bikes.", "english", ("Our neighbour", "repairs", "bikes")),
        ("Mi hermana Lucía tiene dos gatos.", "spanish", ("Mi hermana Lucía", "tiene", "dos gatos")),
        ("Trabajo de contable en Lugo.", "spanish", ("", "Trabajo de", "contable en Lugo")),
    ],
)
def test_a_clause_is_parted_into_subject_predicate_and_value(text, language, parts):
    (one,) = statements(Line(Source("1", text, ""), language))
    assert one.parts == parts


# ---- a memory -------------------------------------------------------------------------------


def say(memory, text, **fields):
    return memory.add({"role": "user", "text": text, **fields}, **ANA)


def told(memory, about="", **given):
    return [one.text for one in memory.facts(about, **ANA, **given)]


def test_facts_are_what_a_user_stated_the_last_first(memory):
    say(memory, "I live in Leeds and my sister Petra lives in Bolzano.", id="m1", time="2025-03-01")
    say(memory, "Waffle is a beagle, she takes tablets. Can dogs eat plums?", time="2025-03-02")
    memory.add({"role": "assistant", "text": "Your dog is a poodle.", "time": "2025-03-02"}, **ANA)
    assert told(memory) == [
        "Waffle is a beagle",
        "she takes tablets",
        "I live in Leeds",
        "my sister Petra lives in Bolzano",
    ]
    petra = memory.facts("Petra", **ANA)[0]
    assert (petra.subject, petra.predicate, petra.value) == ("my sister Petra", "lives in", "Bolzano")
    assert (petra.since, petra.sources) == (datetime(2025, 3, 1, tzinfo=UTC), ("m1",))
    assert (petra.until, petra.replaced_by, petra.holds) == (None, "", True)
    assert told(memory, "Waffle") == ["Waffle is a beagle", "she takes tablets"]
    assert told(memory, "Rosa") == []


@pytest.mark.parametrize("said", ["mother-in-law", "mother in law"])
def test_a_compound_is_not_what_one_of_its_words_is(memory, said):
    say(memory, f"My {said} Greet is coming. She's diabetic.")
    say(memory, "My mother lives in Uppsala.")
    assert told(memory, "my mother") == ["My mother lives in Uppsala"]
    assert told(memory, f"my {said}") == told(memory, "Greet") == [f"My {said} Greet is coming", "She's diabetic"]


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Rome, I'd walk.",
        "I might move to Rome. I hope to live in Rome.",
        "Do I live in Rome?",
        'My friend wrote: "I live in Rome."',
        "Jack said he lives in Rome.",
        "What a day in Rome!",
        "Write me a poem about Rome.",
    ],
)
def test_what_is_supposed_hoped_asked_or_quoted_is_no_fact(memory, text):
    say(memory, text)
    assert not [one for one in told(memory) if "Rome" in one]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The ferry costs 12 pounds.", "english"),
        ("Our dog eats dry food.", "english"),
        ("The trains run every twenty minutes.", "english"),
        ("The shop on the corner sells fresh pasta.", "english"),
        ("My right shoulder aches.", "english"),
        ("Everyone at work calls me Bee.", "english"),
        ("Milo needs drops twice a day.", "english"),
        ("Tomorrow is my driving test.", "english"),
        ("My son wrote a poem.", "english"),
        ("El autobús sale a las ocho.", "spanish"),
        ("Las entradas cuestan 30 euros.", "spanish"),
        ("Cambiamos la cena al sábado.", "spanish"),
        ("Die Apotheke schließt um neun.", "german"),
        ("La pharmacie ferme à neuf heures.", "french"),
    ],
)
def test_a_clause_with_a_subject_and_its_verb_is_asserted(text, language):
    assert [one.text for one in assertions(Reading(text, language))] == [text[:-1]]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The usual plans for Friday drinks.", "english"),
        ("A gift for my dad.", "english"),
        ("Two tickets for Saturday.", "english"),
        ("My running shoes.", "english"),
        ("Get those booked.", "english"),
        ("Ok, tell Ben I'm late.", "english"),
        ("Let's meet at 9.", "english"),
        ("Change the title.", "english"),
        ("Write me a poem. I live in Rome.", "english"),
        ("Reserva esas.", "spanish"),
        ("Dime más.", "spanish"),
        ("Un regalo para mi padre.", "spanish"),
        ("Hilf mir beim Planen.", "german"),
        ("Ein Geschenk für meinen Vater.", "german"),
        ("Donne-moi trois idées.", "french"),
    ],
)
def test_a_fragment_and_what_is_asked_for_are_not(text, language):
    assert assertions(Reading(text, language)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Remind me what to ask: does the lease allow pets? I live in Graz.", ["I live in Graz"]),
        ("Help me decide what to say: I got the job. I live in Graz.", ["I live in Graz"]),
        ("Tell me what is wrong in this: I live in Graz. I works there.", []),
        ("Jack wrote: I got the job. I live in Graz.", ["Jack wrote"]),
    ],
)
def test_a_request_without_a_text_brings_no_more_than_a_sentence(text, told):
    assert [one.text for one in assertions(Reading(text, "english"))] == told


def test_what_differs_in_spelling_alone_is_one_fact(memory):
    say(memory, "I volunteer at the community center.")
    say(memory, "I volunteer at the community centre.")
    assert len(told(memory)) == 1


@pytest.mark.parametrize(
    ("about", "fault"), [(None, "about is nothing"), ("a" * 5000, "5,000 characters; at most 1,000")]
)
def test_what_cannot_be_asked_about_is_refused(memory, about, fault):
    with pytest.raises(InvalidInput, match=fault):
        memory.facts(about, **ANA)


def test_what_is_to_be_so_from_now_on_is_kept_and_is_no_fact(memory):
    say(memory, "Call me Sam. Never suggest pork. I live in Leeds.")
    assert told(memory) == ["I live in Leeds", "nickname: Sam"]
    assert "Never suggest pork" in memory.context("What can I cook?", **ANA).text


def test_a_fact_ends_where_a_later_statement_takes_its_place(memory):
    say(memory, "I live in Leeds, and my cat is called Mia.", session="s", time="2025-03-01")
    new = say(memory, "I moved to York.", session="t", time="2025-03-04").entries[0]
    assert told(memory) == ["I moved to York", "my cat is called Mia"]
    now, *rest = memory.facts(**ANA, former=True)
    ended = next(one for one in rest if one.text == "I live in Leeds")
    assert (ended.until, ended.replaced_by, ended.holds) == (now.since, new.note, False)
    assert next(one for one in rest if "Mia" in one.text).holds


@pytest.mark.parametrize(
    ("said", "then", "holds"),
    [
        ("I got married.", "I got divorced.", ["I got divorced"]),
        ("I'm a vet nurse.", "I got the job at the zoo.", ["I got the job at the zoo", "I'm a vet nurse"]),
        ("I live in Leeds and I'm a nurse.", "I moved to York.", ["I moved to York", "I'm a nurse"]),
        ("I live in Leeds and work as a nurse.", "I moved to York.", ["I moved to York", "I work as a nurse"]),
        (
            "I'm allergic to peanuts and penicillin.",
            "I'm no longer allergic to penicillin.",
            ["I'm no longer allergic to penicillin", "I am allergic to peanuts"],
        ),
        (
            "I was born in Leeds, I live in Leeds.",
            "I moved from Leeds to York.",
            ["I moved from Leeds to York", "I was born in Leeds"],
        ),
        ("I have two kids, Mia and Ben.", "Mia moved to Rome.", ["Mia moved to Rome", "I have two kids, Mia and Ben"]),
        (
            "I live in Leeds. My locker is 12.",
            "I no longer live in Leeds.",
            ["I no longer live in Leeds", "My locker is 12"],
        ),
    ],
)
def test_a_fact_ends_by_what_is_told_of_the_same(memory, said, then, holds):
    say(memory, said, time="2025-03-01")
    say(memory, then, time="2025-03-09")
    assert told(memory) == holds


def test_every_value_of_a_profile_is_a_fact_and_ends_as_one(memory):
    say(memory, "I'm based in Lisbon, and I'm allergic to nuts.", session="s", time="2025-03-01")
    say(memory, "I am living in Lisbon.", session="t", time="2025-03-02")
    new = say(memory, "I've moved to Faro.", session="u", time="2025-03-04").entries[0].note
    memory.set_profile("motto", "Festina lente", **ANA)
    profile, facts = memory.profile(**ANA), memory.facts(**ANA, former=True)
    assert [one.text for one in profile.attributes] == ["residence: Faro", "allergy: nuts", "motto: Festina lente"]
    assert [(one.text, one.attributes, one.replaced_by) for one in facts] == [
        ("motto: Festina lente", ("motto",), ""),
        ("I've moved to Faro", ("residence",), ""),
        ("I am living in Lisbon", ("residence",), new),
        ("I'm based in Lisbon", ("residence",), new),
        ("I'm allergic to nuts", ("allergy",), ""),
    ]
    (lisbon,) = profile.former
    assert (lisbon.since, lisbon.replaced_by) == (facts[3].since, new)
    assert lisbon.until == facts[2].until == facts[3].until == facts[1].since
    assert lisbon.sources == (*facts[2].sources, *facts[3].sources)
    memory.undo(profile.attributes[0].decision, **ANA)
    assert [one.text for one in memory.facts(**ANA) if "residence" in one.attributes] == [
        "I am living in Lisbon",
        "I'm based in Lisbon",
    ]


def test_what_a_program_sets_ends_what_was_said_and_is_told_in_its_place(memory):
    say(memory, "I live in Leeds.", time="2025-03-01")
    memory.add({"role": "user", "speaker": "Bob", "text": "I live in Rome.", "time": "2025-03-01"}, **ANA)
    decision = memory.set_profile("residence", "York", **ANA)
    memory.set_profile("residence", "Oslo", subject="Bob", **ANA)
    assert told(memory) == ["residence: York"]
    assert told(memory, "Bob") == ["residence: Oslo"]
    memory.undo(decision.id, **ANA)
    assert told(memory) == ["I live in Leeds"]


def test_what_is_put_right_is_a_fact_that_ends_the_slip(memory):
    say(memory, "I live in Bristol.", session="s", id="m1")
    say(memory, "sorry, Bath not Bristol", session="s", id="m2")
    (right,) = [one for one in memory.facts(**ANA) if one.attributes]
    assert (right.text, right.sources) == ("residence: Bath", ("m2",))
    (slip,) = [one for one in memory.facts(**ANA, former=True) if one.text == "I live in Bristol"]
    assert (slip.holds, slip.replaced_by) == (False, right.note)


def test_a_clause_of_nothing_but_a_change_is_a_fact(memory):
    say(memory, "We broke up. I quit.")
    assert told(memory) == ["We broke up", "I quit"]


def test_a_relative_clause_is_a_fact_of_its_own():
    line = Line(Source("1", "My aunt, who lives in Leeds, is a nurse.", ""), "english")
    assert [one.parts for one in statements(line)] == [("My aunt", "lives in", "Leeds"), ("My aunt", "is", "a nurse")]


def test_a_phrase_that_means_one_thing_ends_no_clause():
    line = Line(Source("1", "My longest run so far is 9 km, so I rest.", ""), "english")
    assert [one.line.words(one.own) for one in statements(line)] == ["My longest run so far is 9 km", "I rest"]


def test_a_fact_that_is_told_again_is_one_with_both_messages(memory):
    say(memory, "I live in Leeds.", id="m1", time="2025-03-01")
    say(memory, "I live in Leeds. The park is near.", id="m2", time="2025-03-04")
    fact = next(one for one in memory.facts(**ANA) if "Leeds" in one.text)
    assert (fact.since, fact.sources) == (datetime(2025, 3, 1, tzinfo=UTC), ("m2", "m1"))


def test_a_language_without_lists_has_its_words_in_the_value():
    (one,) = statements(Line(Source("1", "Ich wohne in Ulm.", ""), "standard"))
    assert one.finite
    assert one.parts == ("", "", "Ich wohne in Ulm")


def test_others_see_none_of_it(memory):
    say(memory, "My sister Petra lives in Bolzano.")
    assert memory.facts("Petra", user_id="bo") == memory.facts(user_id="bo") == []
    assert memory.facts("Petra", shared=True) == []


@pytest.mark.parametrize("limit", [0, True, 1001])
def test_a_limit_is_a_number_from_1_to_1000(memory, limit):
    with pytest.raises(InvalidInput, match="limit must be a whole number from 1 to 1000"):
        memory.facts(limit=limit, **ANA)


def test_facts_are_told_up_to_a_limit(memory):
    for day in (1, 2, 3, 4):
        say(memory, f"My locker {day} is in hall {day + 1}.", time=f"2025-03-0{day}")
    assert told(memory, limit=2) == ["My locker 4 is in hall 5", "My locker 3 is in hall 4"]


def test_the_command_lists_facts_with_their_ends(memory, command):
    say(memory, "I live in Leeds.", session="s", time="2025-03-01")
    say(memory, "I moved to York.", session="t", time="2025-03-04")
    assert command("facts", "--user", "ana").stdout == "2025-03-04  I moved to York\n"
    assert "2025-03-01  I live in Leeds  (until 2025-03-04)" in command("facts", "--user", "ana", "--former").stdout
    (fact,) = json.loads(command("facts", "--user", "ana", "--json").stdout)
    assert (fact["predicate"], fact["value"], fact["until"]) == ("moved to", "York", None)
    assert command("facts", "--user", "ana", "--about", "Rosa").stderr == "Nothing is known.\n"
    assert "I live in Leeds (until 2025-03-04)." in command("context", "Where?", "--facts", "--user", "ana").stdout


def test_a_context_of_facts_tells_them_with_their_ends_as_they_were_at_a_time(memory):
    say(memory, "Hi! I got married. Which cake is best?", id="m1", time="2025-03-01")
    say(memory, "I got divorced.", id="m2", time="2025-03-09")
    memory.add({"role": "user", "speaker": "Bob", "text": "Well, I live in Rome. Ha!", "time": "2025-03-10"}, **ANA)
    asked = "Am I married, and where does Bob live?"
    lines = {entry.line.partition(": ")[2] for entry in memory.context(asked, facts=True, **ANA).entries}
    assert lines == {"I got married (until 2025-03-09).", "I got divorced.", "Bob: I live in Rome."}
    say(memory, "I got promoted. Only matcha these days.", time="2025-03-11")
    lines = [entry.line for entry in memory.context("Was I promoted?", facts=True, **ANA).entries]
    assert any("Only matcha these days." in line for line in lines)
    (entry,) = memory.context("Am I married?", facts=True, as_of="2025-03-02", **ANA).entries
    assert (entry.line.partition(": ")[2], entry.sources[0].id) == ("I got married.", "m1")


@pytest.fixture
def command(tenant, embedder, monkeypatch):
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    return lambda *words: CliRunner().invoke(app, words)


@pytest.mark.parametrize(
    "text",
    [
        "Tom reckons that Ana is pregnant. Apparently Ana is pregnant.",
        "It is not true that Ana is pregnant. I doubt that Ana is pregnant.",
        "In case Ana is pregnant, call me..",
        "Ana is pregnant, right? Ana is pregnant, isn't she?",
        "Write a poem. Ana is pregnant.",
        "```\nAna is pregnant\n```",
    ],
)
def test_what_others_think_or_is_denied_or_made_up_is_no_fact(memory, text):
    say(memory, text)
    assert told(memory, "pregnant") == []


def test_an_answer_to_the_assistant_is_no_fact(memory):
    say(memory, "You are great, and that is wrong. You live in a box.")
    assert told(memory) == []


def test_a_name_may_be_a_word_of_grammar_or_stand_behind_one(memory):
    say(memory, "Will is my uncle. My brother Mark lives in Hull. The car is red. Eve's birthday is in May.")
    assert told(memory, "Will") == ["Will is my uncle"]
    assert told(memory, "my brother") == ["My brother Mark lives in Hull"]
    eve = memory.facts("Eve", **ANA)[0]
    assert (eve.subject, eve.predicate, eve.value) == ("Eve's birthday", "is in", "May")
    for nothing in ("?", " ", "🎉"):
        with pytest.raises(InvalidInput, match="about"):
            memory.facts(nothing, **ANA)


def test_facts_of_a_user_are_his_own_and_those_of_a_speaker_are_found_by_name(memory):
    say(memory, "I live in Leeds.")
    memory.add({"role": "user", "speaker": "Bob", "text": "I live in Rome."}, **ANA)
    assert told(memory) == ["I live in Leeds"]
    assert told(memory, "Bob") == ["I live in Rome"]


def test_what_is_kept_apart_is_told_by_no_list_of_facts(tenant, embedder, tmp_path):
    file = tmp_path / "policies.yaml"
    file.write_text("default: factual\nclasses:\n  factual: {ttl: none}\n  private: {ttl: none, shown: asked}\n")
    settings = Settings.load(lifecycle={"policies": str(file)})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings) as memory:
        say(memory, "My wifi password is hunter2.", policy="private")
        say(memory, "My locker is blue.")
        assert told(memory) == ["My locker is blue"]
        assert told(memory, "wifi") == []
