"""What becomes of a chat model's opinion on a pair of notes: whom they tell of counts, and a model hides nothing."""

import pytest

from bench.statements import constructed, nowhere
from memgraph_engine.cost import NOTHING
from memgraph_engine.gate.verdict import Opinion
from memgraph_engine.settings import Settings
from memgraph_engine.testing import HashingEmbedder

EMBEDDER, SETTINGS = HashingEmbedder(64), Settings.load()


def put(old, new, language="english", fields=({"speaker": "Ana"},) * 2):
    """Return candidates of two statements, and the gate that judges them."""
    told = [
        {"id": f"{at}", "text": text, **more} for at, (text, more) in enumerate(zip((old, new), fields, strict=True))
    ]
    return constructed(told, language, EMBEDDER, SETTINGS)


def judged(old, new, relation="update", language="english", fields=({"speaker": "Ana"},) * 2, scores=(0.9, 0.8)):
    """Return the verdict on the second of two statements, of which a model holds this."""
    made, gate = put(old, new, language, fields)

    def opinions(_, rows):
        every = ((at, one.known.id) for at, row in enumerate(rows) for one in row)
        return {pair: Opinion(*scores, relation, "It says so.", "scripted", NOTHING) for pair in every}

    return gate.verdicts(nowhere, made, opinions)[-1]


ANOTHERS = [
    ("english", "I live in Oslo.", "Ben moved to Rome."),
    ("english", "I live in Oslo.", "My brother lives in Rome."),
    ("english", "I live in Oslo.", "He moved to Rome."),
    ("english", "My mum's flight is cancelled.", "Ben's flight is on time."),
    ("english", "My dog is 3.", "The dog of my brother is 4."),
    ("spanish", "Vivo en Oslo.", "Mi hermano vive en Roma."),
    ("spanish", "Vivo en Oslo.", "Ben se mudó a Roma."),
]


@pytest.mark.parametrize("relation", ["same", "update", "conflict"])
@pytest.mark.parametrize(("language", "old", "new"), ANOTHERS)
def test_what_tells_of_another_one_is_but_related_whatever_a_model_says(language, old, new, relation):
    verdict = judged(old, new, relation, language)
    assert (verdict.kind, [tie.kind for tie in verdict.ties]) == ("link", ["link"])


@pytest.mark.parametrize("relation", ["same", "update", "conflict"])
@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("I live in Rome.", "I live in Oslo.", ({"speaker": "Ana"}, {"speaker": "Bo"})),
        ("The ferry leaves at noon.", "The ferry leaves at nine.", ({"role": "user"}, {"role": "assistant"})),
    ],
)
def test_what_another_one_says_is_but_related_whatever_a_model_says(old, new, fields, relation):
    verdict = judged(old, new, relation, fields=fields)
    assert (verdict.kind, [tie.kind for tie in verdict.ties]) == ("link", ["link"])


ENDED = [
    ("english", "I like tea / coffee.", "Tea makes me sick.", ""),
    ("english", "I eat only fish.", "I stopped eating fish.", ""),
    ("english", "I live in Rome with her.", "I moved out.", ""),
    ("english", "I am single. I have a dog.", "I got married.", ""),
    ("english", "I'm single and I live in Porto.", "I got married.", ""),
    ("english", "I am single, sadly.", "I got married.", "I am single"),
    ("english", "As I said, I am single.", "I got married.", "I am single"),
    ("english", "I work at Nokia, in Espoo.", "I quit my job.", ""),
    ("english", "I work at Nokia. I have a dog called Rex.", "Rex died last week.", "I have a dog called Rex"),
    ("english", "I take metformin.", "My doctor took me off metformin.", ""),
    ("english", "The ferry leaves at noon.", "It leaves at nine.", ""),
    ("english", "Ben lives in Rome.", "He moved to Oslo.", ""),
    ("english", "My sister has a cat.", "Her cat died.", ""),
    ("spanish", "Vivo en Oslo.", "Me mudé a Roma.", ""),
    ("spanish", "Trabajo en Nokia.", "Dejé mi trabajo.", ""),
    ("spanish", "Soy soltero.", "Me casé.", ""),
]


@pytest.mark.parametrize(("language", "old", "new", "former"), ENDED)
def test_an_update_by_a_model_hides_nothing_and_marks_all_where_no_part_is_plain(language, old, new, former):
    verdict = judged(old, new, language=language)
    assert (verdict.kind, [(tie.kind, tie.former) for tie in verdict.ties]) == ("link", [("change", former)])


@pytest.mark.parametrize("complementarity", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("redundancy", [0.0, 0.7])
def test_the_same_that_is_not_sure_is_related_however_little_it_completes(redundancy, complementarity):
    opinion = Opinion(redundancy, complementarity, "same", "", "scripted", NOTHING)
    assert opinion.considered("n", 0.5, {"merge": 0.7, "link": 0.5}).relation == "related"


@pytest.mark.parametrize("old", ["I no longer live in Rome, I moved to Bari.", "I no longer live in Rome."])
def test_what_takes_all_back_replaces_also_where_a_model_says_so(old):
    assert judged("I live in Rome.", old).kind == "supersede"


@pytest.mark.parametrize("relation", ["update", "conflict"])
def test_what_a_model_ties_is_no_weaker_than_a_link_whatever_its_scores(relation):
    (tie,) = judged("I live in Oslo.", "I moved to Rome.", relation, scores=(0.0, 0.0)).ties
    assert tie.score >= SETTINGS.gate.link_threshold


@pytest.mark.parametrize("turn", ["The dentist is in Faro.", "My car needs a new tyre.", "Rex ate the whole cake."])
def test_a_tie_compares_what_was_said_and_not_the_turn_that_a_context_quotes(turn):
    said = {"speaker": "Ana", "session": "s"}
    made, gate = put("My favourite tea is mint tea with honey.", turn, fields=(said, said))
    assert "mint tea" in made[1].context
    assert gate.verdicts(nowhere, made)[-1].ties == ()
    (known,) = gate.compared(nowhere, made)[1][1]
    old, new = made
    assert known.scores.cosine == pytest.approx(max(old.raw_vector @ new.raw_vector, 0), abs=1e-4)
    assert known.scores.cosine < old.context_vector @ new.context_vector
