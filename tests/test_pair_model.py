"""The pairs that the bench holds the gate against, and the model that is fitted on them."""

import gc
import weakref
from collections import Counter

import numpy as np
import pytest

from bench.pair_model import Example, Fitted, common_words, line_of
from bench.pairs import FOLDER, HELD
from bench.statements import read
from memgraph_engine.gate import pairs as pair_models
from memgraph_engine.gate.pairs import PLAIN, RELATIONS, Weights, by_encoder, features

WANTED = {*RELATIONS[:4], "related", "none"}
SETS = {file.stem: read(file) for file in sorted(FOLDER.glob("*.tsv"))}


def test_each_pair_is_one_of_its_own_and_says_what_is_wanted():
    every = [pair for pairs in SETS.values() for pair in pairs]
    twice = [pair for pair, count in Counter((pair.old, pair.new) for pair in every).items() if count > 1]
    assert twice == []
    assert {pair.want for pair in every} == WANTED
    assert all(pair.old and pair.new and pair.old != pair.new for pair in every)


@pytest.mark.parametrize("name", HELD)
def test_a_held_set_shares_no_statement_with_the_others(name):
    known = {
        text for other, pairs in SETS.items() if other not in HELD for pair in pairs for text in (pair.old, pair.new)
    }
    assert [pair for pair in SETS[name] if pair.old in known and pair.new in known] == []


def test_what_is_fitted_tells_two_relations_apart_by_words_that_only_the_new_line_has():
    places = ("Bari", "Bergen", "Faro", "Ghent", "Hull", "Leeds", "Porto", "York")
    moves = [*zip(places, reversed(places), strict=True)]  # of both kinds alike in all but one word
    moved = [Example("english", "update", f"I live in {old}.", f"Now I live in {new}.", 0.8) for old, new in moves]
    other = [Example("english", "related", f"I live in {old}.", f"Maybe I live in {new}.", 0.8) for old, new in moves]
    rare = Example("english", "none", "An abbot sang.", "A badger slept.", 0.0)  # words that no other pair has
    kept = Fitted([*moved, *other, rare]).kept()
    weights = Weights(np.array([kept["plain"][name] for name in PLAIN]), kept["cues"]["english"])
    old = line_of("I live in Oslo.", "english")
    new = [line_of(f"{word} I live in Bonn.", "english") for word in ("Now", "Maybe")]
    likely = [weights.likelihoods(features(one, old, 0.8))[0] for one in new]
    assert [one.argmax() for one in likely] == [RELATIONS.index("update"), RELATIONS.index("other")]
    assert [one.sum() for one in likely] == pytest.approx([1.0, 1.0])
    assert "+badger" not in kept["cues"]["english"]


def test_of_a_long_message_the_sentence_that_tells_it_is_learnt():
    chat = (
        "Could you write me a poem about the sea? It should have four verses and rhyme. Thank you so much for the help!"
    )
    places = ("Bari", "Bergen", "Faro", "Ghent", "Hull", "Leeds", "Porto", "York")
    told = [Example("english", "update", f"I live in {one}.", f"{chat} I left {one} for good.", 0.5) for one in places]
    rest = [Example("english", "none", f"I live in {one}.", f"{chat} I met a friend in {one}.", 0.5) for one in places]
    cues = Fitted([*told, *rest]).kept()["cues"]["english"]
    assert max(cues["+left"]) > 0.1
    assert "+poem" not in cues


def test_common_words_are_those_of_many_texts_and_no_list():
    texts = [f"das Haus {number}" for number in ("eins", "zwei", "drei")] * 2 + ["ein Hund"]
    assert common_words([*texts, *map(str, range(300))], "standard") == []
    assert common_words(texts, "standard") == ["das", "drei", "ein", "eins", "haus", "hund", "zwei"]


def test_what_an_event_ends_depends_on_what_was_told():
    facts = ["Otto lives in Ghent", "Otto works at the mill", "Otto is my boyfriend", "Otto is allergic to wasps"]
    for fact, event in enumerate(
        ["Otto moved to Lisbon last week", "Otto lost his job at the mill", "Otto and I broke up"]
    ):
        news = np.array(by_encoder([(one, event) for one in facts]))
        assert [int(at) for at in np.flatnonzero(news > 0.6)] == [fact], event


def test_without_onnxruntime_the_linear_model_reads_alone(monkeypatch):
    monkeypatch.setattr("memgraph_engine.gate.pairs.encoder", lambda: None)
    old, new = (line_of(text, "english") for text in ("My dentist is Dr Roe.", "Dr Roe retired, it's Dr Lane now."))
    assert not pair_models.read(new, old, 0.8).encoded


def test_what_is_read_of_a_line_goes_with_it():
    old, new = (line_of(text, "english") for text in ("I live in Oslo and row.", "I moved to Bergen."))
    assert pair_models.read(new, old, 0.8)
    gone = weakref.ref(old)
    del old, new
    gc.collect()
    assert gone() is None
