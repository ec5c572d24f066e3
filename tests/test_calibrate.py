"""An embedder that was never fitted: it says so, is calibrated by shipped texts, and the database keeps that."""

import json
import logging
import tomllib
from dataclasses import asdict

import numpy as np
import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory
from memgraph_engine.cli import app
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.engine import wiring
from memgraph_engine.errors import EmbeddingError, StoreMismatch
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.graph import schema
from memgraph_engine.recall import relevance
from memgraph_engine.recall.relevance import weights
from memgraph_engine.resources import resource
from memgraph_engine.testing import HashingEmbedder
from memgraph_engine.worker.calibrate import FILE, anchors, calibrate
from tests import servers


class Renamed:
    """MiniLM under another name, its cosines on another scale: each vector has a part that all share."""

    languages = ("english",)

    def __init__(self, embedder, shared=0.0, name="own"):
        self.name, self._embedder, self._shared = name, embedder, shared

    def embed_documents(self, texts):
        vectors = self._embedder.embed_documents(texts)
        return np.hstack([vectors * (1 - self._shared) ** 0.5, np.full((len(texts), 1), self._shared**0.5)])

    def embed_query(self, text):
        return self.embed_documents([text])[0]


@pytest.fixture(scope="module")
def told():
    return tomllib.loads(resource(*FILE).read_text(encoding="utf-8"))


def test_each_question_has_an_answer_and_no_text_stands_twice(told):
    texts = [text for one in told["memories"] for text in one["told"]]
    assert len(set(texts)) == len(texts)
    assert all(0 <= place < len(one["told"]) for one in told["memories"] for _, place in one["asked"])


def test_the_shipped_anchors_are_those_of_the_embedder(told, embedder):
    languages, found = anchors(CheckedEmbedder(embedder))
    assert languages == ["english"]
    assert asdict(found) == pytest.approx(told["anchors"]["all-MiniLM-L6-v2"], abs=0.005)


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_relevance_and_relation_are_found_on_the_embedders_own_scale(embedder, shared):
    one = calibrate(CheckedEmbedder(Renamed(embedder, shared)))
    known, relation = weights("all-MiniLM-L6-v2"), calibration("all-MiniLM-L6-v2").relation
    for cosine in (0.0, 0.2, 0.4, 0.6):
        own = shared + (1 - shared) * cosine
        for coverage in (0.0, 0.5):
            assert abs(one.relevance.relevance(own, coverage) - known.relevance(cosine, coverage)) < 0.15
    linked = next(x for x, y in one.relation.knots if y == 0.5)
    usual = next(x for x, y in relation.knots if y == 0.5)
    assert abs((linked - shared) / (1 - shared) - usual) < 0.1


def test_an_embedder_that_finds_no_answers_is_not_calibrated():
    class Blind(Renamed):
        def embed_documents(self, texts):
            return np.ones((len(texts), 3)) + 1e-6 * np.arange(len(texts))[:, None] * [1, 0, 0]

    with pytest.raises(EmbeddingError, match="own can't be calibrated"):
        calibrate(CheckedEmbedder(Blind(None)))


def test_a_search_says_once_that_its_embedder_was_never_calibrated(memory, caplog, monkeypatch):
    relevance.tell_unfitted.cache_clear()
    monkeypatch.setattr(memory.engine.embedder, "name", "own")
    memory.add("I live in Faro.", user_id="ana")
    with caplog.at_level(logging.WARNING, "memgraph_engine"):
        for _ in range(2):
            assert memory.search("Where do I live?", user_id="ana")[0].relevance is None
    assert [record.getMessage() for record in caplog.records if "never calibrated" in record.getMessage()] == [
        "The embedder own was never calibrated: hits have no relevance, and contexts don't know how sure they are. "
        "Run `memgraph-engine calibrate`, and connect anew."
    ]
    monkeypatch.setattr(memory.engine.embedder, "fitted", calibrate(memory.engine.embedder).stored())
    assert 0 < memory.search("Where do I live?", user_id="ana")[0].relevance <= 1
    assert not memory.context("What is the boiling point of tungsten?", user_id="ana").sure


@pytest.mark.parametrize(("language", "said"), [("spanish", 1), ("english", 0)])
def test_a_memory_in_a_language_that_the_embedder_does_not_know_says_so_once(tenant, embedder, caplog, language, said):
    wiring._tell_unknown.cache_clear()
    with (
        Memory.connect(tenant=tenant, embedder=embedder, language=language) as memory,
        caplog.at_level(logging.WARNING, "memgraph_engine"),
    ):
        memory.engine.embedder.languages = ("english",)
        for user in ("ana", "bo"):
            memory.add("Vivo en Faro." if said else "I live in Faro.", user_id=user)
    told = [one.getMessage() for one in caplog.records if "does not know the language" in one.getMessage()]
    assert len(told) == said
    assert all("embedder change --to multilingual" in one for one in told)


def test_a_calibration_of_the_package_is_left_alone(server):
    run = CliRunner().invoke(app, ["calibrate", "--json"])
    assert json.loads(run.stdout) == {"embedder": "all-MiniLM-L6-v2", "calibrated": False}
    assert "nothing was done" in CliRunner().invoke(app, ["calibrate"]).stdout


@pytest.mark.slow
def test_the_database_keeps_a_calibration_and_refuses_that_of_another_embedder(tmp_path):
    """On a server of its own, whose embedder is its own too."""
    own = HashingEmbedder(128)
    with servers.own(tmp_path):
        _kept_and_refused(own)


def _kept_and_refused(own):
    with Memory.connect(embedder=own) as memory:
        assert memory.engine.embedder.fitted == ""
        schema.calibrate(memory.engine.db, calibrate(memory.engine.embedder).stored())
    with Memory.connect(embedder=own) as memory:
        assert weights(own.name, memory.engine.embedder.fitted) is not None
        memory.add("I live in Faro.", user_id="ana")
        assert memory.search("Where do I live in Faro?", user_id="ana")[0].relevance > 0
        other = {**json.loads(memory.engine.embedder.fitted), "embedder": "another"}
        schema.calibrate(memory.engine.db, json.dumps(other))
    with pytest.raises(StoreMismatch, match=r"holds vectors of hashing-128, and a calibration of another"):
        Memory.connect(embedder=own)
