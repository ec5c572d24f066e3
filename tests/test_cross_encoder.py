"""Cross-encoders in ONNX, from a folder or by fastembed: as rerankers, and as judges of natural language inference."""

import json
import shutil
import sys

import numpy as np
import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.artifacts import model_files
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.errors import MissingExtra, SettingsError
from memgraph_engine.judging.choose import judge_named
from memgraph_engine.reranking.choose import reranker_named
from tests import onnx_models

LABELS = ("Entailment", "Neutral", "Contradiction")


def scored(**words):
    """A row for each word: a number, or one for each label; of all others zeros."""
    width = np.size(next(iter(words.values())))
    return [np.broadcast_to(words.get(word, 0), width) for word in onnx_models.WORDS]


def settings(reranker="", judge="", **given):
    return Settings.load(recall={"reranker": reranker}, gate={"judge": judge}, **given)


@pytest.mark.parametrize("batch", [1, 2, 32])
def test_a_folder_is_a_reranker(tmp_path, batch):
    onnx_models.crossing(tmp_path, scored(ship=2.0, sea=1.0, tax=-1.0))
    reranker = reranker_named(settings(f"onnx:{tmp_path}", embedding_batch=batch))
    assert reranker.name == f"onnx/{tmp_path.name}"
    scores = reranker.rerank("Boat?", ["tax tax tax", "the ship", "a ship at sea", "nothing"])
    assert scores.tolist() == [-3.0, 2.0, 3.0, 0.0]


def test_a_reranker_of_a_folder_orders_a_search(tenant, embedder, tmp_path):
    onnx_models.crossing(tmp_path, scored(sea=1.0))
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings(f"onnx:{tmp_path}")) as memory:
        memory.add_many(["My boat is green.", "The sea was calm.", "The boat sails at noon."], user_id="ana")
        hits = memory.search("What about the boat?", user_id="ana", explain=True)
    assert hits[0].note.text == "The sea was calm."
    assert hits[0].explanation.reranked.by == f"onnx/{tmp_path.name}"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (shutil.rmtree, "The reranker onnx:{folder} can't be loaded from {folder}: there is no such folder."),
        (lambda folder: (folder / "tokenizer.json").unlink(), "the folder has no tokenizer.json"),
        (lambda folder: onnx_models.crossing(folder, scored(sea=[1, 2, 3])), "gives 3 numbers to a pair of texts"),
    ],
)
def test_a_reranker_that_is_not_there_is_told_and_nothing_is_lost(memory, tenant, tmp_path, spoil, said):
    memory.add("The sea was calm.", user_id="ana")
    onnx_models.crossing(tmp_path, scored(sea=1.0))
    spoil(tmp_path)
    with pytest.raises(SettingsError) as told:
        Memory.connect(tenant=tenant, settings=settings(f"onnx:{tmp_path}"))
    assert said.format(folder=tmp_path) in str(told.value)
    assert [hit.note.text for hit in memory.search("sea", user_id="ana")] == ["The sea was calm."]


def test_a_folder_is_a_judge_whose_labels_stand_in_its_config(tmp_path):
    onnx_models.crossing(tmp_path, scored(boat=[2, 0, 0], no=[0, 0, 9], tax=[0, 5, 0]), LABELS)
    judge = judge_named(settings(judge=f"onnx:{tmp_path}"))
    assert judge.name == f"onnx/{tmp_path.name}"
    found = judge.judge([("boat", "a boat"), ("boat", "no boat"), ("boat", "tax")])
    assert [one.relation for one in found] == ["same", "contradictory", "different"]
    assert all(0.5 < one.confidence <= 1 for one in found)
    assert judge.judge([]) == []


@pytest.mark.parametrize("labels", [["yes", "no"], {"LABEL_0": "yes"}, "yes", {"0": 5}])
def test_labels_of_another_form_are_told_with_their_place(tmp_path, labels):
    onnx_models.crossing(tmp_path, scored(sea=[1.0, 0.0]), config={"id2label": labels})
    for load in (
        lambda: judge_named(settings(judge=f"onnx:{tmp_path}")),
        lambda: reranker_named(settings(f"onnx:{tmp_path}")),
    ):
        with pytest.raises(SettingsError) as told:
            load()
        assert str(told.value).startswith(f"{tmp_path}/config.json can't be read: id2label: ")


def test_a_cross_encoder_without_the_labels_is_no_judge(tmp_path):
    onnx_models.crossing(tmp_path, scored(sea=[1.0, 0.0]), ("yes", "no"))
    with pytest.raises(SettingsError, match="has the labels yes, no; one for natural language inference has"):
        judge_named(settings(judge=f"onnx:{tmp_path}"))


@pytest.mark.parametrize("load", [reranker_named, judge_named, embedder_named])
def test_fastembed_is_an_extra(monkeypatch, load):
    for module in ("fastembed", "fastembed.rerank.cross_encoder"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"fastembed/org/model needs .*memgraph-engine\[fastembed\]"):
        load(settings("fastembed/org/model", "fastembed/org/model", embedder="fastembed/org/model"))


# ---- fastembed itself: its own classes, on files as its hub keeps them -------------------------------------------


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Returns what makes the folder of a model in the cache; nothing is fetched."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def folder(repository):
        one = tmp_path / "fastembed" / f"models--{repository.replace('/', '--')}"
        (one / "refs").mkdir(parents=True)
        (one / "refs" / "main").write_text("0" * 40)
        snapshot = one / "snapshots" / ("0" * 40)
        snapshot.mkdir(parents=True)
        for name in ("config.json", "special_tokens_map.json"):
            (snapshot / name).write_text(json.dumps({"pad_token": "[PAD]", "pad_token_id": 0}))
        (snapshot / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 256, "pad_token": "[PAD]"}))
        return snapshot

    return folder


@pytest.mark.fastembed
@pytest.mark.filterwarnings("ignore")
def test_fastembed_embeds_as_the_same_model_does(tmp_path, hub):
    known, there = model_files("minilm", Settings.load()), hub("qdrant/all-MiniLM-L6-v2-onnx")
    for name in ("model.onnx", "tokenizer.json"):
        shutil.copy(known / name, there)
    one = embedder_named(Settings.load(embedder="fastembed/sentence-transformers/all-MiniLM-L6-v2", cache=tmp_path))
    checked, texts = CheckedEmbedder(one), ["A boat.", "A ship at sea, and much more of it.", "Tax."]
    expected = embedder_named(Settings.load(embedder="minilm"))
    assert checked.name == "fastembed/sentence-transformers/all-MiniLM-L6-v2"
    assert np.allclose(checked.embed_documents(texts), expected.embed_documents(texts), atol=1e-4)
    assert np.allclose(checked.embed_query("A boat?"), expected.embed_query("A boat?"), atol=1e-4)


@pytest.mark.fastembed
@pytest.mark.filterwarnings("ignore")
def test_fastembed_reranks(tmp_path, hub):
    there = hub("Xenova/ms-marco-MiniLM-L-6-v2")
    onnx_models.crossing(there, scored(ship=2.0, sea=1.0), config={"pad_token_id": 0})
    (there / "onnx").mkdir()
    (there / "model.onnx").rename(there / "onnx" / "model.onnx")
    reranker = reranker_named(settings("fastembed/Xenova/ms-marco-MiniLM-L-6-v2", cache=tmp_path))
    assert reranker.rerank("boat?", ["tax", "the ship", "a ship at sea"]).tolist() == [0.0, 2.0, 3.0]


@pytest.mark.fastembed
@pytest.mark.parametrize("load", [reranker_named, embedder_named])
def test_what_fastembed_does_not_know_is_told(tmp_path, hub, load):
    given = {"embedder": "fastembed/org/none", "cache": tmp_path}
    with pytest.raises(Exception, match=r"load.*Model org/none is not supported"):
        load(settings("fastembed/org/none", **given))
