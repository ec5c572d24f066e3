"""What somebody said wrongly and put right at once: "Sorry, Wednesday at 7."."""

import pytest

from memgraph_engine.gate.known import Line
from memgraph_engine.gate.repair import repair
from memgraph_engine.model.memory import Source

REPLACED = ('"Rex" was replaced by a later statement of that day',)
REPAIRED = [
    ("english", "I'm allergic to hazelnuts.", "Sorry, I meant walnuts.", "hazelnuts"),
    ("english", "Dinner with Ida is on Tuesday at 8.", "Sorry, Wednesday at 7.", "Tuesday at 8"),
    ("english", "Dinner with Ida is on Tuesday.", "oops, Wednesday at 7", "Tuesday"),
    ("english", "My flight leaves at 6:40, 1 hour from here.", "ugh, misread it, it's 8:15", "6:40"),
    ("english", "Remember that my locker is 318.", "fat fingers, 381", "318"),
    ("english", "My boss Ms Harlan wants a talk.", "*Ms Quenby", "Harlan"),
    ("english", "Is Harlan Street 12 in your maps?", "typo: Harlem Street", "Harlan"),
    ("english", "There are 14 of us on Friday.", "wait, I forgot the twins. Make that 16.", "14"),
    ("english", "I have seven hens.", "My mistake. Eight! How could I?", "seven"),
    ("english", "The shed is painted green.", "no, I meant blue", "green"),
    ("spanish", "La boda es el 12 de mayo.", "uy, me he liado, es el 20 de mayo", "12"),
    ("spanish", "Soy alérgico a las gambas.", "perdón, quise decir mejillones", "gambas"),
    ("spanish", "Nacho me debe 80 euros.", "qué va, 65", "80"),
]
SAID = [
    ("english", "Remember that my locker is 318.", "381"),
    ("english", "My daughters are Lena", "and Lina"),
    ("english", "The invoices to pay are 20451", "20415"),
    ("english", "My tasks for Monday: call the bank", "* Tuesday"),
    ("english", "We won 3-1 against Hertha.", "Sorry for Bochum, 0-4 against Leipzig"),
    ("english", "My flight to Lima is on Friday.", "Sorry, phone rang. Grandma on Sunday as always"),
    ("english", "I lent Tom 30.", "I lent Ana 50."),
    ("english", "I live in Lyon.", "Sorry, I have to go."),
    ("english", "I live in Lyon.", "Sorry, what time is it in Oslo?"),
    ("english", "My sister is 41.", "oh wait, my brother is 43"),
    ("english", "I have 6 hens.", "12"),
    ("english", "Tom's number is 07700 900123.", "and Ana's is 07700 900321"),
    ("english", "Tom's number is 07700 900123.", "oh sorry, I forgot, Ana's is 07700 900321"),
    ("english", "The first game ended 13-11.", "Then 13-12 on the 3rd of May."),
    ("english", "Which car do you like?", "No, I meant the blue one."),
    ("english", "Hey Tom! I ran in Cork last week.", "Thanks, Tommy! Can't wait."),
    ("english", "I'm showing my art in Cork next week.", "Did you make that? It looks real!"),
    ("english", "I met Ida in Cork.", "Awesome! Can't wait to hear of it. I didn't make it to Oslo."),
    ("english", "Hi Ida! I lost my job.", "Sorry to hear that, Tom. Unfortunately I can't help."),
    ("english", "The train to Rome leaves at 9:10.", "Sorry, I was at the dentist at 8:30."),
    ("english", "My son Tim starts school.", "Perfect!"),
    ("english", "My son Tim starts school.", "wait, maybe Tom"),
    ("spanish", "Vivo en Cádiz.", "perdona, tengo que irme a Madrid"),
]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("between", "remark"),
    [("What's your cat called?", ()), ("And your cat?", ()), ("Shall I note it down?", REPLACED), ("Noted.", REPLACED)],
)
def test_an_answer_to_another_question_is_no_repair(memory, between, remark):
    talk = [("user", "My dog is called Rex."), ("assistant", between), ("user", "oh sorry, it's called Luna")]
    memory.add([{"role": role, "content": text} for role, text in talk], user_id="ana", session="s1")
    context = memory.context("What is my dog called?", user_id="ana")
    assert next(entry.remarks for entry in context.entries if "Rex" in entry.note.text) == remark


def line(text, language, seq, **given):
    return Line(Source("1", text, "", **{"speaker": "Ana", "session": "s1", "seq": seq, **given}), language)


@pytest.mark.parametrize(("language", "old", "new", "former"), REPAIRED)
def test_a_repair_tells_which_words_it_replaces(language, old, new, former):
    found = repair(line(new, language, 2), line(old, language, 0), language)
    assert found
    assert found.former == former
    assert former in found.evidence


@pytest.mark.parametrize(("language", "old", "new"), SAID)
def test_what_only_comes_behind_it_repairs_nothing(language, old, new):
    assert repair(line(new, language, 2), line(old, language, 0), language) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"seq": 0}, {"seq": 3}),
        ({"seq": 1}, {"seq": 0}),
        ({"session": "s0"}, {}),
        ({"session": ""}, {"session": ""}),
        ({"role": "assistant"}, {}),
        ({}, {"role": "assistant"}),
    ],
    ids=["too far behind", "before it", "another session", "no session", "of an assistant's words", "by an assistant"],
)
def test_only_what_was_said_right_before_is_repaired(old, new):
    said = line("Dinner is on Tuesday.", "english", **{"seq": 0, **old})
    assert repair(line("Sorry, Wednesday.", "english", **{"seq": 2, **new}), said, "english") is None


@pytest.mark.integration
@pytest.mark.parametrize("together", [True, False], ids=["in one call", "in two calls"])
def test_a_context_tells_what_was_repaired_however_much_is_known(memory, together):
    # each is nearer to the repair, by its words and by its meaning, than what that repairs
    near = [{"role": "user", "content": f"Sorry, {n}.", "session": f"s{n}"} for n in range(20, 40)]
    said = [("user", GUESTS), ("assistant", "Enjoy it!"), ("user", "Sorry, 16.")]
    talk = [{"role": role, "content": text, "session": "s1"} for role, text in said]
    for messages in [[*near, *talk]] if together else [near, talk[:2], talk[2:]]:
        receipt = memory.add_many(messages, user_id="ana")
    decision = receipt.entries[-1].decision
    assert decision
    question = "How many guests are coming to dinner in the orchard?"
    context = memory.context(question, user_id="ana")
    texts = [entry.note.text for entry in context.entries]
    assert texts.index("Sorry, 16.") < texts.index(GUESTS)
    assert remarks(context) == ('"14" was replaced by a later statement of that day',)
    memory.undo(decision, user_id="ana")
    assert remarks(memory.context(question, user_id="ana")) == ()


GUESTS = "My dinner in the orchard will have 14 guests."


def remarks(context):
    return next(entry.remarks for entry in context.entries if entry.note.text == GUESTS)


@pytest.mark.integration
def test_what_took_a_notes_place_is_told_with_it_though_it_was_not_found(memory):
    talk = ["Dinner with Ida is on Tuesday.", "Sorry, Wednesday.", "oops, Thursday"]
    memory.add(talk, user_id="ana", session="s1")
    asked = {"question": "When is dinner with Ida?", "user_id": "ana", "top_k": 1}
    context = memory.context(**asked)
    assert {entry.note.text for entry in context.entries} == set(talk)
    assert [entry.note.text for entry in memory.context(**asked, session="s1").entries] == talk[:1]
