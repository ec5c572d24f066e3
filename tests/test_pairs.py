"""Pairs of statements by class, what the gate makes of the second: a file that the project does not contain."""

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bench.statements import outcome, read, verdict
from memgraph_engine.settings import Settings
from memgraph_engine.testing import HashingEmbedder

NAMED = os.environ.get("MEMGRAPH_ENGINE_TEST_PAIRS", "")
PAIRS = read(Path(NAMED)) if NAMED else []
CLASSES = sorted({pair.kind for pair in PAIRS})
MERGED = 0.1  # of what is different; of a small class one pair
RECOGNISED = 0.7  # of what is the same

pytestmark = pytest.mark.skipif(not NAMED, reason="MEMGRAPH_ENGINE_TEST_PAIRS names no file of pairs")


@pytest.fixture(scope="module")
def outcomes():
    """What came of each pair, judged as a batch of the two is; and by the class and what was wanted."""
    embedder, settings = HashingEmbedder(64), Settings.load()
    return [(pair, outcome(pair, verdict(pair, embedder, settings))) for pair in PAIRS]


@pytest.mark.parametrize("kind", CLASSES)
def test_no_other_fact_is_hidden(outcomes, kind):
    assert [(pair.old, pair.new) for pair, came in outcomes if pair.kind == kind and came == "hidden"] == []


@pytest.mark.parametrize("kind", CLASSES)
def test_hardly_any_other_fact_is_merged(outcomes, kind):
    counts = Counter(came for pair, came in outcomes if pair.kind == kind and pair.want != "same")
    assert counts["merged"] <= max(MERGED * counts.total(), 1)


def test_the_same_fact_is_recognised_and_others_are_kept_apart(outcomes):
    same = [came for pair, came in outcomes if pair.want == "same"]
    other = [came for pair, came in outcomes if pair.want != "same"]
    assert same.count("recognised") >= RECOGNISED * len(same)
    assert other.count("merged") <= MERGED * len(other)


@pytest.mark.parametrize("kind", CLASSES)
def test_on_the_database_both_statements_are_found(memory, kind):
    pair = next(pair for pair in PAIRS if pair.kind == kind)
    settings = memory.engine.settings.model_copy(update={"language": pair.language})
    mine = type(memory)(replace(memory.engine, settings=settings))
    for name, text in (("old", pair.old), ("new", pair.new)):
        mine.add({"id": name, "text": text, "speaker": "Ana"}, user_id=kind)
    for name, text in (("old", pair.old), ("new", pair.new)):
        hits = mine.search(text, user_id=kind)
        assert any(text in line for hit in hits for line in hit.note.raw) or pair.want == "same", name
