"""What a line is to another of which it shares the words: the same, something else, or its correction."""

import doctest

import pytest
from hypothesis import given, strategies as st

from bench import contradictions
from memgraph_engine.gate import confirmation, correction as corrections, difference, known
from memgraph_engine.gate.correction import correction
from memgraph_engine.gate.difference import RULES, Pair
from memgraph_engine.gate.known import Known, Line
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.language import wording
from memgraph_engine.model.memory import Source

LANGUAGES = ["english", "spanish", "cjk", "standard"]


def line(text: str, language: str = "english", speaker: str = "Ana", time: str | None = None) -> Line:
    given_ = {"id": "1", "text": text, "speaker": speaker} | ({"time": time} if time else {})
    return Line(parse_message(given_, "1", timezone="UTC", max_text=65536), language)


def pair(new: Line, old: Line, *, answers: bool = False) -> Pair:
    notes = (
        Known("new", "Doc: Are you pregnant? Bo: Yes.", (new,), frozenset(), None, answers),
        Known("old", "Doc: Are you tired? Bo: Yes.", (old,), frozenset(), None),
    )
    return Pair(new, old, notes)


def finding(new: str, old: str, language: str = "english") -> str:
    return pair(line(new, language), line(old, language)).finding[0]


def corrects(new: str, old: str, language: str = "english", other: str = "Ana") -> bool:
    return bool(correction(line(new, language), [line(old, language, other)]))


@pytest.mark.parametrize("module", [confirmation, difference, corrections, known, wording, contradictions])
def test_docstring_examples(module):
    assert doctest.testmod(module).failed == 0


@given(st.text(min_size=1).filter(str.strip), st.sampled_from(LANGUAGES))
def test_what_is_written_alike_is_the_same(text, language):
    said = Line(Source("1", text, "", speaker="Ana"), language)
    assert pair(said, said).plain
    assert pair(said, said).finding[0] in ("same", "related")  # a text without a word tells nothing


# ---- the same words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The wifi key is Otter9.", "The wifi key is otter9."),
        ("The pump draws 3 mA.", "The pump draws 3 MA."),
        ("The dose is ,2 ml.", "The dose is 2 ml."),
        ("We use the B* tree.", "We use the B tree."),
        ("Mira canto.", "Mira cantó."),
        ("उसने फल खाया।", "उसने फूल खाया।"),
        ("เขาชอบเสื้อ", "เขาชอบเสือ"),
        ("Ó ní ọkọ́.", "Ó ní ọkọ."),
        ("I paid (3 June, 2023).", "I paid (3 May, 2023)."),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_written_otherwise_is_no_repeat(new, old, language):
    assert not pair(line(new, language), line(old, language)).plain


def test_blanks_and_the_way_a_letter_is_composed_are_no_difference():
    assert pair(line("The  cafe\u0301\nis shut."), line("The caf\u00e9 is shut.")).plain


def test_the_same_words_of_other_days_are_no_repeat():
    days = [line("I swam today.", time=f"2023-05-0{day}") for day in (1, 2)]
    assert not pair(*days).plain
    assert pair(days[0], line("I swam today.", time="2023-05-01T20:00:00")).plain
    assert pair(*days).finding == ("related", "They tell of different days.")


def test_what_has_been_on_two_days_is_no_contradiction_and_what_is_ahead_may_be():
    for old, new in (("I ran 5 km today.", "I ran 8 km today."), ("I saw Dune yesterday.", "I saw Alien yesterday.")):
        said = line(new, time="2023-03-09"), line(old, time="2023-03-01")
        for one in (pair(*said), pair(*said[::-1])):  # it may come later than what was said after it
            assert (one.finding[0], one.disputed) == ("related", False)
    moved = pair(line("My exam is on Friday.", time="2023-05-02"), line("My exam is on Thursday.", time="2023-05-01"))
    assert (moved.finding[0], moved.disputed) == ("conflict", True)


def test_the_same_words_of_another_speaker_are_no_repeat():
    assert not pair(line("I swam."), line("I swam.", speaker="Bo")).plain


def test_the_same_answer_to_another_question_is_no_repeat():
    assert not pair(line("Yes."), line("Yes."), answers=True).plain
    assert pair(line("Yes."), line("Yes.")).plain


# ---- the same in other words ------------------------------------------------------------------

ELSEWHERE = [
    ("last year", "we got married in Rome"),
    ("before work", "I usually run in the park"),
    ("after the war", "my aunt sold her boat"),
    ("if it rains", "we stay at home"),
]
RESTATED = [
    ("english", "Every Monday at nine we have a meeting.", "We have a meeting at nine every Monday."),
    ("english", "I'm a baker in the old town.", "I am a baker in the old town!"),
    ("english", "The ferry leaves at 6pm from Faro.", "The ferry leaves at 6 pm from Faro."),
    ("english", "We have four goats and a pony.", "We have 4 goats and a pony."),
    ("english", "The pick-up is behind the barn.", "The pick up is behind the barn."),
    ("english", "The exam is on June 2nd.", "The exam is on 2 June."),
    ("english", "The doctor’s car is red.", "The doctor's car is red."),
    ("english", "By the way, the roof leaks over the stairs.", "The roof leaks over the stairs."),
    ("english", "Well, the roof leaks over the stairs.", "The roof leaks over the stairs."),
    ("english", "The roof leaks over the stairs 😀", "The roof leaks over the stairs."),
    ("english", "We'll eat at 8:30.", "We will eat at 8.30."),
    ("english", "My favourite colour is green.", "My favorite color is green."),
    (
        "english",
        "Ana finally bought an old wooden boat and painted it red with her brother.",
        "Guess what, my brother and I painted the wooden boat red that I bought last week, how great!",
    ),
    ("spanish", "Tengo 3 gatos en la granja.", "tengo tres gatos en la granja!"),
    ("spanish", "Bueno, la tienda cierra a las nueve.", "La tienda cierra a las nueve."),
    ("standard", "Der Zug nach Bonn fährt um acht!", "Der Zug nach Bonn fährt um acht."),
    ("cjk", "我喜欢茶！", "我喜欢茶。"),
    ("english", "In March 2023 I moved to Lisbon.", "I moved to Lisbon in March 2023."),
    ("english", "On Mondays, my sister works at the yard.", "My sister works at the yard on Mondays."),
    ("english", "Every morning I drink tea.", "I drink tea every morning."),
    ("english", "I flew to Oslo from Rome.", "I flew from Rome to Oslo."),
    ("english", "In May I moved from Oslo to Rome.", "I moved from Oslo to Rome in May."),
    ("english", "I was born in Porto in 1985.", "In 1985 I was born in Porto."),
    ("english", "At 7 I meet Tom at the station.", "I meet Tom at the station at 7."),
    ("spanish", "En verano trabajo en la playa.", "Trabajo en la playa en verano."),
    ("english", "Dr. Roe is my dentist.", "My dentist is Dr. Roe."),
    ("english", "I am vegetarian.", "I'm a vegetarian."),
    ("english", "Past the bakery in Faro the yellow trams rattle.", "The yellow trams rattle past the bakery in Faro."),
    ("english", "Now I keep four hens by the mill.", "I keep four hens by the mill now."),
    ("spanish", "En marzo me mudé a Lisboa.", "Me mudé a Lisboa en marzo."),
    *(("english", f"{when.capitalize()} {what}.", f"{what[0].upper()}{what[1:]} {when}.") for when, what in ELSEWHERE),
    *(
        ("spanish", f"{when.capitalize()} corro.", f"Corro {when}.")
        for when in ("todas las mañanas", "todos los lunes")
    ),
]


@pytest.mark.parametrize(("language", "new", "old"), RESTATED)
def test_the_same_in_other_words_is_the_same(language, new, old):
    assert finding(new, old, language) == finding(old, new, language) == "same"


# ---- rules ------------------------------------------------------------------------------------

OTHER_MATTERS = [
    # most words in common, and another fact for a speaker who does not report
    ("I dreamed I bought a house in Austin with a pool.", "I bought a house with a pool in Austin."),
    ("I used to smoke cigars with my uncle every summer.", "Every summer I smoke cigars with my uncle."),
    ("I met Bo's brother at the party in Rome.", "I met Bo at her brother's party in Rome."),
    ("I adopted a lovely grey cat from the shelter.", "I adopted a grey cat from the shelter."),
    ("I pay half the rent for the flat in Leeds.", "I pay the rent for the flat in Leeds."),
    # what counts is not put in, nor a face
    ("I don't sleep well.", "I don't sleep."),
    ("My password is okay fox.", "My password is fox."),
    ("My blood type is A+.", "My blood type is A."),
    # two clauses turned inside out
    ("At 8 iron, at 9 aspirin.", "Aspirin at 8, iron at 9."),
    ("In the morning zinc, in the evening I take iron.", "I take iron in the morning, zinc in the evening."),
    # turned around an "and"
    ("I want green tea and coffee.", "I want green coffee and tea."),
    ("Tell Cy that Bo is late.", "Tell Bo that Cy is late."),
    # words in common, but not in each sentence
    (
        "Thanks, Bo! Your help means a lot. Tomorrow I fly to Oslo with my sister for her wedding.",
        "Thanks, Bo! Your help with the tax means so much, a lot really. I begin to like my new job at the mill.",
    ),
    # praise for two things
    (
        "Wow, Bo, great to hear! Your garden looks lovely.",
        "Wow, Bo, so great! Your sourdough looks lovely, tell me more!",
    ),
    # a detail in another's place, among other sentences
    (
        "I want to buy a blue car.",
        "What a rainy week, I hardly went out. I want to buy a red car. Then I could visit you more often!",
    ),
    # turned around, among other sentences
    (
        "The goose chased the cat through our yard.",
        "What a rainy week, I hardly went out. The cat chased the goose through our yard. How we laughed!",
    ),
]


@pytest.mark.parametrize(("new", "old"), OTHER_MATTERS)
def test_words_in_common_are_no_restatement(new, old):
    assert finding(new, old) != "same"


SAID = "Honestly, the mill bores me. I might leave, a bakery would be so much more fun!"


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("Ana finds the mill boring and may leave for a bakery.", SAID),
        ("Ana's sister has two geese and a goat.", "My sister keeps animals now: two geese, a goat."),
        ("Ana was sad, but stays positive about the mill.", "The mill wasn't great but I'm staying positive."),
    ],
)
def test_a_report_is_what_its_speaker_said(report, said):
    assert finding(report, said) == "same"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("Bo finds the mill boring and may leave for a bakery.", SAID),  # Ana says so
        ("Ana's sister finds the mill boring.", SAID),
        ("Bo finds the mill boring.", "Ana finds the mill boring."),
        ("Ana finds the mill boring.", "Bo finds the mill boring."),
        ("Ana doesn't find the mill boring.", SAID),
        ("Bo had to leave the mill.", "Hey Bo, long time no see! I had to leave the mill, and it's hard."),
    ],
)
def test_a_report_on_another_one_is_none(told, said):
    assert finding(told, said) != "same"


def test_a_negation_reaches_through_a_list_and_not_past_what_is_set_against_it():
    both = "I don't eat fish or meat at home."
    assert finding("I don't eat meat at home.", both) == finding(both, "I don't eat meat at home.") == "related"
    assert finding("I eat meat at home.", both) == "conflict"
    said = "The mill wasn't great but I'm staying positive about it."
    assert finding("I'm staying positive about the mill.", said) != "conflict"


def test_a_line_without_a_word_is_no_other_in_another_order():
    assert finding("I saw a blue boat.", "👍") == finding("👍", "I saw a blue boat.") == "related"


def test_two_questions_behind_one_exclamation_are_two():
    assert finding("Cool! What do you love about the mill?", "Cool! Have you any goals in mind?") != "same"
    assert finding("Nice one! Who painted the boat?", "Nice one! Where is the market?") != "same"


def test_a_word_is_no_name():
    for speaker, text in (("will", "Kim will sell the old van."), ("Ana de la Cruz", "Kim sold the van de la Rue.")):
        new, old = (line(one, speaker=speaker) for one in (text, "I'm going to sell my old van to Kim."))
        assert pair(new, old).report is None


def test_a_role_is_no_name():
    told = (Source("1", text, "", role="user") for text in ("Add a user to the router in the hall.", SAID))
    new, old = (Line(one, "english") for one in told)
    assert pair(new, old).report is None


def test_a_text_of_many_words_is_the_same_as_itself_alone():
    day = "On day {} we sailed the old wooden boat around the harbour of Faro with my sister and her friends."
    text = " ".join(map(day.format, range(40)))
    assert finding(text, text.replace(" Faro ", "  Faro ")) == "same"
    assert finding(text, text.replace("sister", "lovely sister", 1)) != "same"


def test_a_long_message_tells_what_is_said_again_in_a_sentence():
    old = "What a rainy week, I hardly went out. On Friday my sister taught me how to bake rye bread. So good!"
    assert finding("Ana's sister taught her to bake bread.", old) == "same"


RULES_TABLE = {
    "denial": [
        ("Ana never eats the spicy noodles from the market.", "I eat noodles from the market, so spicy and so good!"),
    ],
    "number": [
        ("Ana has 3 goats and a pony at the farm by the lake.", "At our farm by the lake I keep 4 goats and ponies."),
    ],
    "weekly": [
        ("Ana's choir sings on Mondays at the old church.", "At the old church my choir is singing, on Thursdays!"),
    ],
    "date": [
        ("Ana's choir sings in May at the old church.", "At the old church my choir will be singing, in June!"),
    ],
    "name": [
        ("Ana went to see Carla at the harbour cafe in the rain.", "So much rain! I went to the harbour to see Dora."),
    ],
    "subject": [
        ("Carla painted the wooden boat red with a brush.", "So I took a brush and painted my wooden boat, red!"),
    ],
    "question": [
        ("Do you paint wooden boats in the harbour?", "I paint wooden boats in the harbour."),
    ],
}


@pytest.mark.parametrize(("name", "new", "old"), [(name, *two) for name, some in RULES_TABLE.items() for two in some])
def test_a_rule_speaks_of_what_it_is_for(name, new, old):
    (rule,) = [rule for rule in RULES if rule.name == name]
    for one, other in ((new, old), (old, new)):
        both = pair(line(one), line(other))
        assert rule.evidence(both).endswith(".")
        assert both.finding[0] in ("conflict", "related")


def test_every_rule_has_a_test():
    elsewhere = {"speaker", "days", "put off", "answer", "wording"}
    assert {rule.name for rule in RULES} == elsewhere | set(RULES_TABLE)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Yesterday I told you my passport expires in 2027, it's 2029 actually.", "My passport expires in 2027."),
        ("My son Leo plays football on Tuesdays, but now in Cork.", "My son Leo plays football on Tuesdays."),
        ("Leo is 12 and Jan is 10, sorry, mixed them up, Leo is 10 and Jan 12.", "Leo is 12 and Jan is 10."),
    ],
)
def test_what_says_that_something_is_otherwise_repeats_nothing(new, old):
    assert pair(line(new), line(old)).finding[0] != "same"
    assert pair(line(old), line(old)).finding[0] == "same"


EXCHANGED = [
    ("english", "I flew from Oslo to Rome.", "I flew from Rome to Oslo."),
    ("english", "Ben loves Ana.", "Ana loves Ben."),
    ("english", "Tom is on duty on Mondays and Eva on Fridays.", "Tom is on duty on Fridays and Eva on Mondays."),
    ("english", "I keep keys in the drawer and cash on the shelf.", "I keep keys on the shelf and cash in the drawer."),
    ("english", "With Tom I play tennis, on Sundays I play chess.", "On Sundays I play tennis, with Tom I play chess."),
    ("english", "Every day I call my mum, on Sundays my dad.", "On Sundays I call my mum, every day my dad."),
    ("spanish", "Tomo té con leche y café sin azúcar.", "Tomo té sin azúcar y café con leche."),
    ("english", "If we stay it rains at home.", "If it rains we stay at home."),
    ("english", "In May I moved from Oslo to Rome.", "I moved from Rome to Oslo in May."),
    ("english", "I work from 9 to 5.", "I work from 5 to 9."),
    ("english", "The man with the dog saw the boy.", "The man saw the boy with the dog."),
    ("english", "I eat fish only.", "Only I eat fish."),
    ("english", "I gave Ana the book of Ben.", "I gave Ben the book of Ana."),
    ("english", "The lamp in the hall is on.", "The lamp in the hall is off."),
    ("english", "I take my tea with lemon.", "I take my tea without lemon."),
    ("english", "Lock the gate before dinner.", "Lock the gate after dinner."),
    ("english", "He is afraid of spiders.", "She is afraid of spiders."),
    ("english", "Visitors must sign the book.", "Visitors may sign the book."),
    ("english", "The shed is under the bridge.", "The shed is over the bridge."),
    ("english", "I like her drawing.", "She likes my drawing."),
    ("english", "All of the hens lay eggs.", "Some of the hens lay eggs."),
    ("english", "Few guests stayed for the dance.", "A few guests stayed for the dance."),
    ("english", "The tank holds 40 litres.", "The tank holds 40 gallons."),
    ("english", "The score was 2-0.", "The score was 0-2."),
    ("english", "The biopsy of the liver was benign.", "The biopsy of the liver was malignant."),
    ("english", "My aunt plays the cello in an orchestra.", "My uncle plays the cello in an orchestra."),
    ("english", "The cat chased the goose.", "The goose chased the cat."),
    ("english", "The night train goes from Milan to Rome.", "The night train goes from Rome to Milan."),
    ("english", "Pack socks, soap and matches.", "Pack socks, soap, matches and candles."),
    ("english", "Leo thinks he is a genius.", "Leo is a genius."),
    (
        "english",
        "Neighbours say the bridge over the river is closed for repairs.",
        "The bridge over the river is closed for repairs.",
    ),
    ("english", "I just slept.", "I slept."),
    ("english", "If it snows we stay in.", "Unless it snows we stay in."),
    ("english", "We toured Reading.", "We toured reading."),
    ("english", "The grade was C+.", "The grade was C-."),
    ("english", "I work in the mill.", "I worked in the mill."),
    ("english", "It is safe to swim here.", "It is unsafe to swim here."),
    ("spanish", "Como el arroz con sal.", "Como el arroz sin sal."),
    ("spanish", "Cierro antes de comer.", "Cierro después de comer."),
    ("spanish", "Mi primo vive en Vigo.", "Mi prima vive en Vigo."),
    ("spanish", "Canto en el coro.", "Canta en el coro."),
    ("spanish", "Debes pagar la cuota.", "Puedes pagar la cuota."),
    ("standard", "Ich fahre mit dem Rad.", "Ich fahre ohne das Rad."),
    ("standard", "Je dors avant le repas.", "Je dors après le repas."),
    ("english", "Ich gehe gern schwimmen.", "Ich gehe nicht gern schwimmen."),
    ("english", "Elle aime les chats noirs.", "Il aime les chats noirs."),
    ("english", "वह गाता है।", "वह गाती है।"),
    ("cjk", "门开着。", "门关着。"),
    ("cjk", "猫が3匹います", "猫が2匹います"),
]


@pytest.mark.parametrize(("language", "new", "old"), EXCHANGED)
def test_something_in_another_s_place_is_something_else(language, new, old):
    assert finding(new, old, language) != "same"
    assert finding(old, new, language) != "same"


def test_the_evidence_is_a_sentence():
    both = pair(line("I have two old cats."), line("I have three old cats."))
    assert both.finding == ("conflict", 'They differ in a number: "two", not "three".')
    hours = pair(line("The train leaves at 17:10."), line("The train leaves at 16:40."))
    assert hours.finding == ("conflict", 'They differ in a number: "17:10", not "16:40".')


# ---- corrections ------------------------------------------------------------------------------

PLACES = [("Rome", "her"), ("Faro", "me"), ("Leeds", "them")]
TAKEN_BACK = [(",", "I lied"), (".", "I made that up"), (",", "I wrote in my novel")]


@pytest.mark.parametrize(
    ("language", "new", "old"),
    [
        ("english", "I no longer eat fish.", "I eat fish."),
        ("english", "I don't eat fish anymore.", "I eat fish."),
        ("english", "I no longer eat fish.", "Well, I eat fish."),
        ("english", "I no longer live in Lisbon, I moved to Madeira.", "I live in Lisbon."),
        ("english", "My daughter Mia no longer plays the piano.", "My daughter Mia plays the piano."),
        ("english", "Bob no longer works at the bakery in town.", "Well, Bob works at the bakery in town."),
        ("spanish", "Ya no como pescado.", "Como pescado."),
        ("spanish", "Ya no trabajo en el acuario.", "Trabajo en el acuario."),
    ],
)
def test_a_correction_is_the_old_statement_but_for_what_it_takes_back(language, new, old):
    assert corrects(new, old, language)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        *(
            (f"I no longer eat {food}.", f"I {how} {food}.")
            for food in ("fish", "eggs")
            for how in ("eat only", "can eat")
        ),
        *((f"Ya no como {food}.", f"Como solo {food}.") for food in ("pescado", "huevos")),
        *((f"I no longer live in {place}.", f"I live with {who} in {place}.") for place, who in PLACES),
        *((f"My son no longer lives in {place}.", f"My son lives in {place} with {who}.") for place, who in PLACES),
        *((f"Ya no vivo en {place}.", f"Vivo en {place} con ella.") for place, _ in PLACES),
        ("Ya no trabajo en Acme.", "Trabajo con él en Acme."),
        ("I no longer swim on Mondays.", "I swim with him on Mondays."),
        ("Actually, my class on Friday is at 9.", "My class on Monday is at 9."),
        ("Actually, the concert is in May.", "The concert is in June."),
        ("I no longer live in Lisbon, I moved to Madeira.", "The ferry to Madeira leaves at noon."),
        ("I no longer live in Lisbon.", "My parents live in Lisbon."),
        ("I no longer eat fish.", "The children eat fish."),
        ("I no longer eat fish.", "I eat meat."),
        ("I moved to Sales.", "I live in Tokyo."),
        ("I moved to Osaka.", "I live in Tokyo."),
        ("Let me know if you need any more suggestions.", "Let me know if you need suggestions."),
        ("I don't have any more children.", "I have children."),
        ("I'm translating: I no longer live in Rome.", "I live in Rome."),
        *((f"I no longer live in Rome{joint} {more}.", "I live in Rome.") for joint, more in TAKEN_BACK),
        ("I no longer sleep.", "I sleep well."),
        ("He no longer works.", "He works."),
        ("It no longer works.", "It works."),
        ("I don't drink coffee in the evening anymore.", "I drink coffee."),
        ("I no longer wear glasses when I swim.", "I wear glasses."),
        ("I no longer play tennis with Carla.", "I play tennis with Ben."),
        ("My daughter Mia no longer plays the piano.", "My daughter Zoe plays the piano."),
        ("Ann Lee no longer lives in Rome.", "Ann Fox lives in Rome."),
        ("My brother no longer runs the hardware store.", "My brother-in-law runs the hardware store."),
        ("My friend no longer lives in Rome.", "My friend in Bari lives in Rome."),
        ("Actually, Ann Lee lives in Rome.", "Actually, Ann Fox lives in Rome."),
        ("I read that Leo no longer eats fish.", "Leo eats fish."),
        ("Nobody says that I no longer eat fish.", "I eat fish."),
        ("I actually take 3 pills in the evening.", "I take 2 pills in the morning."),
        ("No, I meant the shoes.", "I paid 20 euros for the shirt."),
        ("I actually paid 50 euros for the shoes.", "I paid 20 euros for the shirt."),
        ("Actually the meeting with Alice is on Friday.", "The meeting with Bob is on Thursday."),
        ("Emma actually has a meeting on Friday too.", "Emma has a meeting on Monday."),
        ("Last year I actually had three cats.", "I have two cats."),
        ("I no longer eat fish?", "I eat fish."),
        ("I no longer eat fish.", "Do I eat fish?"),
        ("I no longer eat fish.", "I eat fish with my parents at the big restaurant by the harbour."),
        ("I no longer eat fish.", "I no longer work, I eat fish at home."),
        ("I no longer eat fish but shrimps.", "I eat fish."),
        ("I no longer avoid no fish.", "I avoid no fish."),
        ("Actually the meeting is on Friday.", "The meeting is on Monday. My passport is red. My blood type is AB."),
        ("The choir actually has Alice and Carol.", "The choir has Bob and Dave."),
        ("A colleague no longer lives in Oslo.", "A colleague lives in Oslo."),
        ("I no longer like tea. Just kidding!", "I like tea."),
        ("I no longer like tea, I was kidding!", "I like tea."),
        ("Tom is no longer my boss.", "Tom is my boss and lives in Kent."),
        ("I eat fish.", "I no longer eat fish."),
        ("I no longer eat fish.", "I eat fish with rice."),
        ("I no longer eat fish.", "I eat fish. He does."),
        ("I no longer eat fish.", "I eat fish. What do you eat?"),
        ("I no longer eat fish.", 'I eat fish. Bo said "I am off".'),
        ("Ya no bebo café por la noche.", "Bebo café."),
        ("Ya no trabaja en el acuario.", "Trabajo en el acuario."),
        ("Ya no come pescado mi hermano.", "Mi hermana come pescado."),
        ("Ya no vivo en Lisboa.", "Mis padres viven en Lisboa."),
    ],
)
def test_what_says_anything_else_corrects_nothing(new, old):
    assert not corrects(new, old, "spanish" if new.startswith("Ya") else "english")


@pytest.mark.parametrize("language", ["cjk", "standard"])
def test_a_language_without_lists_corrects_nothing(language):
    assert not corrects("I no longer eat fish.", "I eat fish.", language)
