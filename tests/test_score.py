"""What the gate's local scores promise, whatever the texts."""

import doctest
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memgraph_engine.gate import calibration as calibration_module, score as score_module
from memgraph_engine.gate.calibration import FILE, Calibration, Monotone, calibration
from memgraph_engine.gate.gate import Gate
from memgraph_engine.gate.known import Known, Line
from memgraph_engine.gate.score import Statistics, repeated, score
from memgraph_engine.model import text as text_module
from memgraph_engine.model.memory import Source
from memgraph_engine.model.scope import Scope
from memgraph_engine.resources import resource
from memgraph_engine.settings import Settings
from memgraph_engine.testing import HashingEmbedder

EMBEDDER = HashingEmbedder(64)
PLAIN = replace(calibration("another"), relation=Monotone(((0.0, 0.0), (1.0, 1.0))))
VOCABULARY = ["boat", "river", "garden", "teacher", "violin", "snow", "bread", "the", "i"]
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=8)
TEXTS = WORDS.map(" ".join) | st.text(max_size=40)
SPEAKERS = st.sampled_from(["", "Ana", "Bob"])


def note(text: str, speaker: str = "Ana", keywords: tuple[str, ...] = (), language: str = "english") -> Known:
    return Known(text, text, (Line(Source("1", text, "", speaker=speaker), language),), frozenset(keywords), None)


def cosine(one: Known, other: Known) -> float:
    vectors = np.array(EMBEDDER.embed_documents([one.context or "nothing", other.context or "nothing"]), np.float32)
    return min(max(float(vectors[0] @ vectors[1]), 0.0), 1.0)


def pair(one: Known, other: Known, maps: Calibration = PLAIN):
    return score(one, [other], [cosine(one, other)], Statistics.of(100, [one, other]), maps)[0]


@pytest.mark.parametrize("module", [score_module, calibration_module, text_module])
def test_docstring_examples(module):
    assert doctest.testmod(module).failed == 0


@given(TEXTS, SPEAKERS)
def test_a_note_repeats_itself_wholly(text, speaker):
    assert pair(note(text, speaker), note(text, speaker)).redundancy == pytest.approx(1, abs=0.01)


@given(TEXTS, SPEAKERS, TEXTS, SPEAKERS)
def test_the_divergence_is_symmetric(one, speaker, other, another):
    notes = note(one, speaker), note(other, another)
    assert pair(*notes).words == pytest.approx(pair(*reversed(notes)).words)


@given(WORDS, WORDS)
def test_a_new_note_that_tells_more_is_no_fuller_a_repeat_than_the_other_way_round(some, more):
    short, long = note(" ".join(some)), note(" ".join([*some, *more]))
    assert pair(long, short).redundancy <= pair(short, long).redundancy + 1e-9


@given(TEXTS, SPEAKERS, TEXTS, SPEAKERS)
def test_scores_lie_between_0_and_1(one, speaker, other, another):
    found = pair(note(one, speaker, ("boat",)), note(other, another, ("boat", "river")), calibration("hashing-64"))
    assert all(0 <= x <= 1 for x in (found.redundancy, found.complementarity, found.words, found.overlap, found.cosine))


@given(st.lists(st.floats(0.1, 9), min_size=1), st.lists(st.floats(0.1, 9)), st.lists(st.floats(0.1, 9)))
def test_the_short_form_is_the_divergence_of_the_two_distributions(shared, only_one, only_other):
    one, other = (
        np.array(shared + only_one + [0.0] * len(only_other)),
        np.array(shared + [0.0] * len(only_one) + only_other),
    )
    parts = np.array([one.sum(), other.sum()]) / (one.sum() + other.sum())

    def entropy(p):
        p = p[p > 0]
        return float(-(p * np.log2(p)).sum())

    p, q = one / one.sum(), other / other.sum()
    divergence = entropy(parts[0] * p + parts[1] * q) - parts[0] * entropy(p) - parts[1] * entropy(q)
    expected = 1 - divergence / entropy(parts)
    assert repeated(sum(shared), one.sum(), other.sum()) == pytest.approx(expected, abs=1e-6)


def test_a_restatement_in_the_third_person_is_more_redundant_than_another_fact():
    said = note("I finally bought an old wooden boat yesterday, isn't that great?")
    restated, other = note("Ana bought an old wooden boat."), note("Ana teaches the violin to children.")
    assert pair(restated, said).redundancy > pair(other, said).redundancy + 0.3


def test_the_same_in_spanish():
    said = note("¡Por fin compré un barco de madera muy viejo!", language="spanish")
    restated = note("Ana compró un barco de madera viejo.", language="spanish")
    other = note("Ana enseña violín a los niños.", language="spanish")
    assert pair(restated, said).redundancy > pair(other, said).redundancy + 0.3


def test_a_merged_note_counts_by_its_best_line():
    first, second = note("I sing in a choir."), note("Snow fell all night.")
    merged = Known("merged", "", (*first.lines, *second.lines), frozenset(), None)
    assert pair(note("I sing in a choir!"), merged).words == 1


def test_a_repeat_is_not_complementary():
    assert pair(note("I sing in a choir"), note("I sing in a choir")).complementarity == pytest.approx(0, abs=0.01)


def test_shared_keywords_make_notes_complementary():
    one = note("We row on Sundays", keywords=("rowing club",))
    with_it, without = note("The race was lost", keywords=("rowing club",)), note("The race was lost")
    assert pair(one, with_it).complementarity > pair(one, without).complementarity


def test_a_rare_word_weighs_more_than_a_common_one():
    crowd = [note(f"garden number{i}") for i in range(20)]
    known = Statistics.of(500, [*crowd, note("violin")])
    rare, common = score(note("garden violin"), [note("violin"), note("garden")], [0.0, 0.0], known, PLAIN)
    assert rare.redundancy > common.redundancy


def test_words_that_all_notes_share_prove_little():
    about = ("We painted the garden and the boat.", "The snow lies over the garden beside the boat.")
    new, (said, other) = note("Bread lies over the boat in the garden."), map(note, about)
    crowded, alone = Statistics.of(3, [new, said, other]), Statistics.of(100, [other])
    assert score(new, [other], [0.5], crowded, PLAIN)[0].proof < score(new, [other], [0.5], alone, PLAIN)[0].proof == 1
    least = replace(PLAIN, redundancy=replace(PLAIN.redundancy, bias=9.0))  # whatever is shared
    (some,) = score(new, [other], [0.5], crowded, least)
    assert some.redundancy == pytest.approx(some.proof, abs=0.01)


def test_no_candidates_no_scores():
    assert score(note("I sing"), [], [], Statistics.of(0, []), PLAIN) == []


SHARES = st.tuples(*[st.floats(0, 1)] * 4)


@given(SHARES, SHARES)
@pytest.mark.parametrize("embedder", ["all-MiniLM-L6-v2", "bge-small-en-v1.5", "another"])
def test_who_shares_more_never_scores_less(embedder, one, other):
    less, more = map(min, one, other), map(max, one, other)
    maps = calibration(embedder)
    assert 0 <= maps.redundancy(*less) <= maps.redundancy(*more) <= 1
    low, high = sorted((one[0], other[0]))
    assert 0 <= maps.relation(low) <= maps.relation(high) <= 1


def test_the_same_words_in_another_order_are_less_redundant():
    said, turned = note("the dog bit the man by the boat"), note("the man bit the dog by the boat")
    assert pair(turned, said).redundancy < pair(said, said).redundancy


def test_a_map_that_falls_is_refused():
    with pytest.raises(ValueError, match="ascend"):
        Monotone(((0.0, 0.0), (0.5, 0.8), (0.6, 0.7), (1.0, 1.0)))


def test_an_unknown_embedder_links_no_more_than_any_known_one():
    known = json.loads(resource(*FILE).read_text("utf-8"))["relation"]
    for value in (0.2, 0.4, 0.6, 0.8):
        assert calibration("another").relation(value) <= 1e-9 + min(calibration(name).relation(value) for name in known)


def test_a_model_has_one_map_whatever_runs_it():
    assert calibration("sentence-transformers/all-MiniLM-L6-v2") == calibration("all-MiniLM-L6-v2")


def test_who_is_nearest_does_not_depend_on_the_order_in_which_notes_were_found():
    lines = note("We row on Sundays").lines
    near = [(Known(name, name, lines, frozenset(), None), 0.5) for name in "dacb"]
    judging = Gate(Settings.load().gate, PLAIN, Scope("tenant", "ana"), "english", 4)
    for found in (near, near[::-1]):
        assert [one.known.id for one in judging.beside(note("We row on Sundays"), found)] == ["a", "b", "c", "d"]
