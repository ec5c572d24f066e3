"""The pairs that the bench holds the gate against, and the model that is fitted on them."""

from collections import Counter

import pytest

from bench.pair_model import RELATIONS, Example, Model
from bench.pairs import FOLDER, HELD
from bench.statements import read

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


def test_a_model_tells_what_it_was_fitted_on_from_words_that_only_the_new_line_has():
    places = ("Bari", "Bergen", "Faro", "Ghent", "Hull", "Leeds", "Porto", "York")
    moves = [*zip(places, reversed(places), strict=True)]  # of both kinds alike in all but one word
    moved = [Example("english", "update", f"I live in {old}.", f"Now I live in {new}.", 0.8) for old, new in moves]
    other = [Example("english", "related", f"I live in {old}.", f"Maybe I live in {new}.", 0.8) for old, new in moves]
    unseen = [
        Example("english", "update", "I live in Oslo.", "Now I live in Bonn.", 0.8),
        Example("english", "related", "I live in Oslo.", "Maybe I live in Bonn.", 0.8),
    ]
    rare = Example("english", "none", "An abbot sang.", "A badger slept.", 0.0)  # words that no other pair has
    likely = Model([*moved, *other, rare]).likelihoods(unseen)
    assert likely.argmax(axis=1).tolist() == [RELATIONS.index("update"), RELATIONS.index("other")]
    assert likely.sum(axis=1) == pytest.approx(1.0)
