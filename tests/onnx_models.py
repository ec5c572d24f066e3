"""Models in ONNX that tests make: real ones for the runtime, of a few numbers whose outcome is known."""

import json

import numpy as np

from memgraph_engine.inference.graph import FLOAT, INT64, Graph

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "boat", "ship", "tax", "sea", "no"]


def tokenizer(folder, words=WORDS):
    """Write a tokenizer of words: `[CLS] one [SEP]`, `[CLS] one [SEP] other [SEP]`."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    one = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, "[UNK]"))
    one.normalizer, one.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    one.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    one.save(str(folder / "tokenizer.json"))


def embedding(folder, table, inputs=("input_ids", "attention_mask"), name="model.onnx"):
    """Write a model whose state of a token is its row of the table, (words, numbers)."""
    graph = Graph()
    graph.tensor("table", FLOAT, np.shape(table), np.asarray(table, "<f4"))
    graph.node("Gather", ("table", "input_ids"), "last_hidden_state", {}, "")
    _write(folder, graph.model(inputs, "last_hidden_state", "texts", "tokens", np.shape(table)[1]), name)


def crossing(folder, weights, labels=(), config=None):
    """Write a cross-encoder: the sum of the rows of (words, numbers) over the tokens of a pair."""
    graph = Graph()
    graph.tensor("table", FLOAT, np.shape(weights), np.asarray(weights, "<f4"))
    graph.tensor("axis", INT64, (1,), np.array([1], "<i8"))
    graph.node("Gather", ("table", "input_ids"), "states", {}, "")
    graph.node("ReduceSum", ("states", "axis"), "logits", {"keepdims": 0}, "")
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    _write(folder, graph.model(inputs, "logits", "texts", np.shape(weights)[1]), "model.onnx")
    tokenizer(folder)
    (folder / "config.json").write_text(json.dumps({"id2label": dict(enumerate(labels)), **(config or {})}))


def _write(folder, model, name):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(model)
