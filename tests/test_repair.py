"""What somebody said wrongly and put right at once: "Sorry, Wednesday at 7."."""

from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine.gate.known import Line
from memgraph_engine.gate.repair import FAR, NEAR, answers, reach, repair
from memgraph_engine.model.memory import Source

REPLACED = ('"Rex" was replaced by [1] of that day',)
REPAIRED = [
    ("english", "I'm allergic to hazelnuts.", "Sorry, I meant walnuts.", "hazelnuts"),
    ("english", "we get the boat on 15 august", "sorry i meant the 25th", "15"),
    ("english", "my uncle is Piet from Prague", "no no, he's from Brno, not Prague", "Prague"),
    ("english", "Dinner with Ida is on Tuesday at 8.", "Sorry, Wednesday at 7.", "Tuesday at 8"),
    ("english", "Dinner with Ida is on Tuesday.", "oops, Wednesday at 7", "Tuesday"),
    ("english", "My flight leaves at 6:40, 1 hour from here.", "ugh, misread it, it's 8:15", "6:40"),
    ("english", "Remember that my locker is 318.", "fat fingers, 381", "318"),
    ("english", "My boss Ms Harlan wants a talk.", "*Ms Quenby", "Harlan"),
    ("english", "Is Harlan Street 12 in your maps?", "typo: Harlem Street", "Harlan"),
    ("english", "There are 14 of us on Friday.", "wait, I forgot the twins. Make that 16.", "14"),
    ("english", "I have seven hens.", "My mistake. Eight! How could I?", "seven"),
    ("english", "The shed is painted green.", "no, I meant blue", "green"),
    ("english", "There are 5 of us on Friday.", "make that 10", "5"),
    ("english", "I live on the 3rd floor.", "4th, not 3rd", "3"),
    ("english", "I have 5 hens.", "not 5, 6", "5"),
    ("english", "Lunch was 12 euros.", "sorry, 13 euros not 12", "12"),
    ("english", "I ran 12 km today.", "edit: 15 km", "12"),
    ("english", "The code is 4471.", "4417*", "4471"),
    ("english", "Dinner is on Monday.", "no, Tuesday", "Monday"),
    ("english", "Dinner is on Monday.", "NO, Tuesday!", "Monday"),
    ("english", "Dinner is on Monday.", "oh no wait, Tuesday", "Monday"),
    ("english", "my brother is called tomas", "sorry, tomás not tomas", "tomas"),
    ("english", "my sister is called ana", "sorry, anna", "ana"),
    ("english", "Mum's birthday is the 3rd of May.", "sorry, the 4th", "3"),
    ("english", "I was in Leeds last week.", "Leicester, not Leeds", "Leeds"),
    ("english", "Tea is at 5 pm for 6 people.", "sorry, 6:30", "5 pm"),
    ("english", "The meeting is at 9am.", "make it 10:30", "9am"),
    ("english", "The train leaves at 17:50.", "actually 6 pm", "17:50"),
    ("english", "Tea is at 5 pm for 6 people.", "oops, 9 people", "6"),
    ("spanish", "Somos 5 el viernes.", "6, no 5", "5"),
    ("spanish", "La cena es el martes.", "no, el jueves", "martes"),
    ("spanish", "La clase es a las 9 de la mañana.", "perdona, a las 10:30", "9"),
    ("spanish", "mi hermano se llama tomas", "perdón, tomás no tomas", "tomas"),
    ("spanish", "He corrido 12 km.", "edito: 15 km", "12"),
    ("spanish", "La boda es el 12 de mayo.", "uy, me he liado, es el 20 de mayo", "12"),
    ("spanish", "Soy alérgico a las gambas.", "perdón, quise decir mejillones", "gambas"),
    ("spanish", "Nacho me debe 80 euros.", "qué va, 65", "80"),
    ("english", "The plumber is due at 10am.", "sorry, 11am not 10am", "10"),
    ("english", "I take 50mg of metacam.", "sorry 25mg not 50mg", "50"),
    ("english", "We're flying to Riga.", "sorry Tallinn not Riga", "Riga"),
    ("english", "The party is on Tuesday.", "it's on Wednesday not Tuesday", "Tuesday"),
    ("english", "The meeting is in room 12.", "room 14 not 12", "12"),
    ("english", "The gym costs 45 euros a month.", "it's 54 euros not 45", "45"),
]
SAID = [
    ("english", "The bus takes 40 minutes.", "the train takes 20 minutes not 40"),
    ("english", "The house has 4 rooms.", "the house has 3 baths not 4"),
    ("english", "The house has 4 rooms.", "the garden has 3 trees not 4"),
    ("english", "The movers are booked for 8am.", "the plumber comes at 7am not 8"),
    ("english", "I live in Lyon.", "No, Marie, I can't."),
    ("english", "My uncle lives in Lyon.", "My aunt lives in Nice, not Lyon."),
    ("english", "My daughter is 6.", "My son is 5, not 6."),
    ("english", "I work in Lyon.", "My wife works in Nice, not Lyon."),
    ("english", "I drink coffee.", "Tom drinks tea, not coffee."),
    ("english", "I live in Lyon.", "I want to live in Nice, not Lyon."),
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
    ("english", "I have 5 hens.", "no, 3 of my friends want some"),
    ("english", "I have 5 hens.", "not bad!"),
    ("english", "I'm from Spain.", "No, not France"),
    ("english", "Call me at 5.", "not 5 minutes later please"),
    ("english", "Call me at 5 pm.", "sorry, back in 10 minutes"),
    ("english", "Call me at 5 pm.", "wait, 2 of us can go"),
    ("english", "I weigh 80 kilos.", "not today, tomorrow"),
    ("english", "I have 2 cats.", "sorry, 2024 was hard"),
    ("english", "I swam in the lake.", "sorry, late"),
    ("english", "my pin is 1234", "*sighs*"),
    ("english", "Can't wait to try them.", "Cool! Can't wait to try them out!"),
    ("spanish", "Tengo 5 gallinas.", "no está mal"),
    ("spanish", "Tengo cita a las 5.", "perdona, 10 minutos"),
    ("spanish", "Vivo en Lyon.", "no ahora, luego"),
    ("spanish", "Vivo en Cádiz.", "perdona, tengo que irme a Madrid"),
    ("english", "Lunch is ready.", "Dinner not ready."),
    ("english", "I can come at 5.", "Tom can't come."),
    ("english", "Tom is vegan.", "Ana isn't vegan."),
    ("english", "My brother lives in Paris.", "Sister not in Paris."),
    ("spanish", "La comida está lista.", "Cena no lista."),
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
    found = repair(line(new, language, 2), line(old, language, 0))
    assert found
    assert found.former == former
    assert former in found.evidence


@pytest.mark.parametrize(("language", "old", "new"), SAID)
def test_what_only_comes_behind_it_repairs_nothing(language, old, new):
    assert repair(line(new, language, 2), line(old, language, 0)) is None


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
    assert repair(line("Sorry, Wednesday.", "english", **{"seq": 2, **new}), said) is None


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({"role": "assistant", "text": "Noted."}, False),
        ({"role": "assistant", "text": "Shall I remind you?"}, True),
        ({"speaker": "Ana", "text": "And bring wine."}, False),
        ({"speaker": "Bo", "text": "I guess it's Wednesday."}, True),
    ],
)
def test_no_puts_right_only_what_nobody_asked_or_another_said(before, expected):
    assert answers(line("No, Thursday.", "english", 2), Source("2", **{"hash": "", **before})) == expected


DINNER = "Dinner is on Tuesday."
GROUP = [("Bo", "I'll bring wine."), ("Cy", "I'm making a cake."), ("Bo", "The blue one was great.")]


@pytest.mark.parametrize(
    ("between", "minutes", "expected"),
    [
        (GROUP, 4, 4),
        (GROUP[:1], 4, NEAR),
        (GROUP, 40, NEAR),
        ([*GROUP[:2], ("Bo", "When is your exam?")], 4, NEAR),
        ([*GROUP[:2], ("Ana", "Cy, no nuts please.")], 4, NEAR),
        ([("Bo", f"That is {n}.") for n in range(FAR)], 4, NEAR),
        ([("Wednesday", "I'll bring wine.")], 4, 0),
    ],
    ids=["a group", "two", "long ago", "asked something", "said something else", "too many", "spoken to"],
)
def test_what_others_say_in_between_takes_no_place(between, minutes, expected):
    talk = [("Ana", DINNER), *between]
    said = datetime(2024, 5, 1, tzinfo=UTC)
    others = [line(text, "english", seq, speaker=name, said_at=said) for seq, (name, text) in enumerate(talk)]
    new = line("Sorry, Wednesday.", "english", len(talk), said_at=said + timedelta(minutes=minutes))
    assert reach(new, others) == expected


@pytest.mark.integration
def test_in_a_group_a_repair_is_seen_behind_what_others_said(memory):
    for name, text in [("Ana", DINNER), *GROUP, ("Ana", "sorry, Wednesday")]:
        memory.add({"role": "user", "name": name, "content": text}, user_id="ana", session="s")
    entries = memory.context("When is dinner?", user_id="ana").entries
    texts = [entry.note.text for entry in entries]
    repair, wrong = texts.index("sorry, Wednesday"), texts.index(DINNER)
    assert repair < wrong
    assert entries[wrong].remarks == (f'"Tuesday" was replaced by [{repair + 1}] of that day',)


@pytest.mark.integration
@pytest.mark.parametrize("reply", [(), ({"role": "assistant", "content": "Got it, I have noted that."},)])
@pytest.mark.parametrize("together", [True, False])
def test_of_a_chain_of_repairs_the_last_stands_first_and_the_others_point_to_it(memory, reply, together):
    talk = ["Dinner with Ida is on Tuesday.", "sorry, Wednesday", "no, Thursday"]
    turns = [turn for text in talk for turn in ({"role": "user", "content": text}, *reply)]
    for some in [turns] if together else [[turn] for turn in turns]:
        memory.add(some, user_id="ana", session="s")
    entries = memory.context("When is dinner with Ida?", user_id="ana").entries
    told = [entry for entry in entries if entry.note.text in talk]
    assert [entry.note.text for entry in told] == talk[::-1]
    former = [next((one for one in entry.remarks if "replaced by" in one), "") for entry in told]
    assert former[0] == ""
    assert former[1] == f'"Wednesday" was replaced by [{told[0].number}] of that day'
    assert former[2].startswith('"Tuesday" was replaced by [')


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
    assert remarks(context) == ('"14" was replaced by [1] of that day',)
    memory.undo(decision, user_id="ana")
    assert remarks(memory.context(question, user_id="ana")) == ()


@pytest.mark.integration
def test_a_repair_is_told_beside_what_it_repairs_though_only_the_one_is_found(memory):
    talk = ["the cab from Faro was 24 pounds", "ok make that 20"]
    memory.add([{"role": "user", "content": text} for text in talk], user_id="ana", session="s")
    context = memory.context("make that 20", user_id="ana", top_k=1)
    assert [entry.note.text for entry in context.entries] == talk[::-1]
    assert [bool(entry.remarks) for entry in context.entries] == [False, True]


@pytest.mark.integration
def test_what_an_assistant_said_again_changes_with_what_it_was_told(memory):
    talk = [
        ("user", "I live in Bristol."),
        ("assistant", "Bristol is lovely! Since you live in Bristol, try the harbour."),
        ("user", "sorry, Bath not Bristol"),
        ("assistant", "Bath has Roman baths, and a train to Bristol."),
    ]
    memory.add([{"role": role, "content": text} for role, text in talk], user_id="ana", session="s")
    said = {note.text: note.id for note in memory.get_all(user_id="ana")}
    wrong, echo, repair, _ = (said[text] for _, text in talk)

    def changed():
        return {tie.note for tie in memory.explain(repair, user_id="ana").ties if tie.kind == "change"}

    assert changed() == {wrong, echo}
    remarks = {entry.note.id: entry.remarks for entry in memory.context("Where do I live?", user_id="ana").entries}
    assert remarks[echo][0].startswith('"Bristol" was replaced by ')
    untied = memory.untie(repair, wrong, user_id="ana")
    assert changed() == set()
    memory.undo(untied.id, user_id="ana")
    assert changed() == {wrong, echo}


GUESTS = "My dinner in the orchard will have 14 guests."


def remarks(context):
    return next(entry.remarks for entry in context.entries if entry.note.text == GUESTS)


@pytest.mark.integration
def test_what_took_a_notes_place_is_told_with_it_though_it_was_not_found(memory):
    talk = ["Dinner with Ida is on Tuesday.", "Sorry, Wednesday.", "oops, Thursday"]
    memory.add(talk, user_id="ana", session="s1")
    asked = {"query": "When is dinner with Ida?", "user_id": "ana", "top_k": 1}
    context = memory.context(**asked)
    assert {entry.note.text for entry in context.entries} == set(talk)
    within = memory.context(**asked, session="s1")  # nothing that was not found
    assert [entry.note.text for entry in within.entries] == [talk[2], talk[1]]
