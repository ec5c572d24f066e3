"""Fits the cross-encoder of pairs (`gate/pairs.py`): all-MiniLM-L6-v2, trained on to tell what one line is to another.

Needs JAX, which is not in the usual environment: `make pairs-encoder` has one of its own.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bench.pair_model import Example, line_of
from memgraph_engine import Settings
from memgraph_engine.artifacts import model_files
from memgraph_engine.gate.pairs import LEAST, LONGEST, RELATIONS, by_words
from memgraph_engine.inference.graph import BLOCK, FLOAT, INT4, INT32, INT64, Graph, floats, layers

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tree: TypeAlias = dict[str, Any]
EPOCHS, BATCH, RATE, WARM = 3, 32, 1e-4, 0.06  # RATE is the highest one, reached after the share WARM of all steps
_DROPPED, _SMOOTHED = 0.1, 0.05
_LAYERS, _HEADS, _WIDTH, _INNER = 6, 12, 384, 1536
_LENGTHS = (16, 24, 32, 40, 48, 64, 96, LONGEST)  # tokens that a batch is filled up to
_MOST = LONGEST // 2 - 3  # tokens of a line
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def fit(examples: Sequence[Example], folder: Path, log: Any = print) -> None:
    """Train the model on examples, and write it with its tokenizer into a folder."""
    from tokenizers import Tokenizer

    base = model_files("minilm", Settings.load())
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows = [(_tokens(tokenizer, *texts), relation, counts) for texts, relation, counts in _rows(examples)]
    weights = _train(_base(base), rows, log)
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(_model(_Weights(weights)))
    copyfile(base / "tokenizer.json", folder / "tokenizer.json")


def _rows(examples: Sequence[Example]) -> Iterator[tuple[tuple[str, str], int, float]]:
    """Yield the parts that the linear model chooses, their relation, and how much they count.

    The model is not asked about what the linear one never takes for news: of such pairs a quarter is enough.
    """
    chosen = random.Random(0)
    for one in examples:
        old, new = (line_of(text, one.language) for text in (one.old, one.new))
        judged = by_words(new, old, one.related)
        far = (not judged or judged.news < LEAST) and one.want not in RELATIONS
        if not far or (one.counts > 1 and chosen.random() < 0.25):
            yield judged.texts if judged else (one.old, one.new), one.relation, one.counts / 2


def _tokens(tokenizer: Any, old: str, new: str) -> tuple[list[int], list[int]]:
    """Return the tokens of both lines, and of which each is."""
    one, other = (tokenizer.encode(text, add_special_tokens=False).ids[:_MOST] for text in (old, new))
    start, end = (tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))
    return [start, *one, end, *other, end], [0] * (len(one) + 2) + [1] * (len(other) + 1)


def _base(folder: Path) -> Tree:
    """Read the weights of MiniLM, by the names that `_Weights` has for them."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(folder / "model.onnx")).graph
    given = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    made = {output: node for node in graph.node for output in node.output}
    factors = {}  # by the bias that is added to their product
    for node in graph.node:
        for product, bias in (node.input[:2], node.input[1::-1]) if node.op_type == "Add" else ():
            if bias in given and product in made and made[product].op_type == "MatMul":
                factors[bias] = given[made[product].input[1]]
    found = {
        "words": given["embeddings.word_embeddings.weight"],
        "places": given["embeddings.position_embeddings.weight"][:LONGEST],
        "kinds": given["embeddings.token_type_embeddings.weight"],
        "norm.w": given["embeddings.LayerNorm.weight"],
        "norm.b": given["embeddings.LayerNorm.bias"],
        "head.w": np.random.default_rng(0).normal(0, 0.02, (_WIDTH, len(RELATIONS))),
        "head.b": np.zeros(len(RELATIONS)),
    }
    for layer in range(_LAYERS):
        for name, part in _PARTS.items():
            bias = f"encoder.layer.{layer}.{part}.bias"
            found |= {f"l{layer}.{name}.w": factors[bias], f"l{layer}.{name}.b": given[bias]}
        for name, part in _NORMS.items():
            held = f"encoder.layer.{layer}.{part}"
            found |= {f"l{layer}.{name}.w": given[f"{held}.weight"], f"l{layer}.{name}.b": given[f"{held}.bias"]}
    return {name: np.asarray(values, np.float32) for name, values in found.items()}


def _train(weights: Tree, rows: Sequence[tuple[Any, int, float]], log: Any) -> Tree:
    """Return the weights after all epochs; those of words stay as they are, so that rare ones keep their meaning."""
    import jax
    import jax.numpy as jnp
    import optax

    jax.config.update("jax_default_prng_impl", "unsafe_rbg")  # the usual one takes a third of a step
    words, chosen = jnp.asarray(weights.pop("words")), random.Random(0)
    weights = {name: jnp.asarray(values) for name, values in weights.items()}
    steps = EPOCHS * sum(1 for _ in _batches(rows, range(len(rows))))
    rates = optax.warmup_cosine_decay_schedule(0, RATE, int(WARM * steps), steps, RATE / 50)
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rates, weight_decay=0.01))
    state, key = rule.init(weights), jax.random.key(0)

    def loss(weights: Tree, given: Sequence[Any], key: Any) -> Any:
        ids, kinds, mask, wanted, counts = given
        likely = jax.nn.log_softmax(_sums({**weights, "words": words}, ids, kinds, mask, key), -1)
        aim = jax.nn.one_hot(wanted, len(RELATIONS)) * (1 - _SMOOTHED) + _SMOOTHED / len(RELATIONS)
        return -((likely * aim).sum(-1) * counts).sum() / counts.sum()

    def step(weights: Tree, state: Any, given: Sequence[Any], key: Any) -> tuple[Tree, Any, Any]:
        missed, slope = jax.value_and_grad(loss)(weights, given, key)
        change, state = rule.update(slope, state, weights)
        return optax.apply_updates(weights, change), state, missed

    compiled = jax.jit(step)
    done, missed = 0, []
    for _ in range(EPOCHS):
        order = [*range(len(rows))]
        chosen.shuffle(order)
        batches = [*_batches(rows, order)]
        chosen.shuffle(batches)
        for batch in batches:
            weights, state, one = compiled(weights, state, _arrays(rows, *batch), jax.random.fold_in(key, done))
            done += 1
            missed.append(one)
            if done % 100 == 0:
                log(f"{done} of {steps} steps, loss {float(np.mean(missed[-100:])):.3f}", flush=True)
    return {name: np.asarray(values) for name, values in ({**weights, "words": words}).items()}


def _sums(weights: Tree, ids: Any, kinds: Any, mask: Any, key: Any) -> Any:
    """Return the sums by relation of a batch: (pairs, RELATIONS). The same model as `_model` writes."""
    import jax
    import jax.numpy as jnp

    pairs, length = ids.shape

    def norm(x: Any, name: str) -> Any:
        apart = x - x.mean(-1, keepdims=True)
        return (
            apart / jnp.sqrt((apart**2).mean(-1, keepdims=True) + _Weights.epsilon) * weights[f"{name}.w"]
            + (weights[f"{name}.b"])
        )

    def product(x: Any, name: str) -> Any:
        return x @ weights[f"{name}.w"] + weights[f"{name}.b"]

    def drop(x: Any, place: int) -> Any:
        kept = jax.random.bernoulli(jax.random.fold_in(key, place), 1 - _DROPPED, x.shape)
        return jnp.where(kept, x / (1 - _DROPPED), 0)

    def heads(x: Any) -> Any:
        return x.reshape(pairs, length, _HEADS, -1).transpose(0, 2, 1, 3)

    hidden = (1 - mask)[:, None, None, :] * -1e9
    x = drop(norm(weights["words"][ids] + weights["places"][:length] + weights["kinds"][kinds], "norm"), 0)
    for layer in range(_LAYERS):
        of = f"l{layer}.".__add__
        q, k, v = (heads(product(x, of(name))) for name in "qkv")
        seen = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(_WIDTH // _HEADS) + hidden, -1) @ v
        seen = product(seen.transpose(0, 2, 1, 3).reshape(pairs, length, _WIDTH), of("ao"))
        x = norm(x + drop(seen, 2 * layer + 1), of("aln"))
        inner = product(jax.nn.gelu(product(x, of("fi")), approximate=False), of("fo"))
        x = norm(x + drop(inner, 2 * layer + 2), of("oln"))
    mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
    return product(drop(mean, 2 * _LAYERS + 1), "head")


def _batches(rows: Sequence[Any], order: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield batches of rows of like length, in some order, each with the length that it is filled up to."""
    waiting = dict[int, list[int]]()
    for at in order:
        length = next(one for one in _LENGTHS if len(rows[at][0][0]) <= one)
        waiting.setdefault(length, []).append(at)
        if len(waiting[length]) == BATCH:
            yield length, waiting.pop(length)
    yield from waiting.items()


def _arrays(rows: Sequence[Any], length: int, batch: Sequence[int]) -> "tuple[NDArray[Any], ...]":
    """Return a batch as arrays: tokens, of which line each is, mask, relations, and what each counts."""
    ids, kinds = (np.zeros((BATCH, length), np.int32) for _ in range(2))
    mask = np.zeros((BATCH, length), np.float32)
    mask[:, 0] = 1
    wanted, counts = np.zeros(BATCH, np.int32), np.zeros(BATCH, np.float32)
    for row, at in enumerate(batch):
        (tokens, which), wanted[row], counts[row] = rows[at]
        ids[row, : len(tokens)], kinds[row, : len(tokens)], mask[row, : len(tokens)] = tokens, which, 1
    return ids, kinds, mask, wanted, counts


class _Weights:
    """The weights of the model, rounded to 4 bits where that costs nothing."""

    sizes = _WIDTH, _LAYERS, _HEADS, _INNER
    epsilon = 1e-12

    def __init__(self, weights: Mapping[str, "NDArray[np.float32]"]) -> None:
        self._weights = weights

    def floats(self, *names: str) -> "NDArray[np.float32]":
        return np.concatenate([self._weights[name] for name in names]).astype("<f4")

    def quartets(self, name: str) -> "tuple[NDArray[np.uint8], NDArray[np.float32]]":
        rounded, scales = _rounded(self._weights[name].T)
        turned = (rounded + 8).astype(np.uint8)
        return _packed(turned), scales

    def signed(self, name: str) -> "tuple[NDArray[np.uint8], NDArray[np.float32]]":
        """Return weights as numbers of -8 to 7, as a table of words has them."""
        rounded, scales = _rounded(self._weights[name])
        return _packed((rounded & 15).astype(np.uint8)), scales


def _packed(values: "NDArray[np.uint8]") -> "NDArray[np.uint8]":
    """Return numbers of 4 bits, two a byte."""
    return (values[:, ::2] | values[:, 1::2] << 4).astype(np.uint8)


def _rounded(values: "NDArray[np.float32]") -> "tuple[NDArray[np.int8], NDArray[np.float32]]":
    """Return blocks of values as whole numbers of -8 to 7, and the scale of each: of some scales the best."""
    blocks = values.reshape(-1, BLOCK)
    ends = blocks[np.arange(len(blocks)), np.abs(blocks).argmax(1)]
    tried = []
    for share in (1.0, 0.95, 0.9, 0.85, 0.8):
        scales = np.where(ends == 0, 1e-8, ends * share / -8).astype(np.float32)
        rounded = np.clip(np.round(blocks / scales[:, None]), -8, 7)
        tried.append((((rounded * scales[:, None] - blocks) ** 2).sum(1), rounded, scales))
    best = np.argmin([missed for missed, _, _ in tried], axis=0)
    rounded = np.choose(best[:, None], [one for _, one, _ in tried]).astype(np.int8)
    return rounded, np.choose(best, [one for _, _, one in tried]).astype(np.float32)


def _model(weights: _Weights) -> bytes:
    """Return the model as ONNX: from tokens, their mask and kinds to the sums by relation."""
    graph, norm = Graph(), {"epsilon": weights.epsilon}
    packed, scales = weights.signed("words")
    number = len(scales) * BLOCK // _WIDTH
    graph.tensor("words", INT4, (number, _WIDTH), packed)
    graph.tensor("words.scale", FLOAT, (number, _WIDTH // BLOCK), scales)
    places = weights.floats("places")
    graph.tensor("places", FLOAT, (len(places) + 1, _WIDTH), np.vstack([np.zeros((1, _WIDTH), "<f4"), places]))
    floats(graph, weights, "kinds", "head.w", "head.b")
    for name, place in (("one", 1), ("last", -1)):
        graph.tensor(name, INT64, (1,), np.array([place], "<i8"))
    sizes = {"block_size": BLOCK, "quantize_axis": 1, "gather_axis": 0}
    graph.node("GatherBlockQuantized", ("words", "input_ids", "words.scale"), "word", sizes)
    graph.node("CumSum", ("attention_mask", "one"), "at", {}, "")
    graph.node("Gather", ("places", "at"), "place", {}, "")
    graph.node("Gather", ("kinds", "token_type_ids"), "kind", {}, "")
    graph.node("Add", ("place", "kind"), "where", {}, "")
    graph.node("Cast", ("attention_mask",), "mask", {"to": INT32}, "")
    graph.node("Cast", ("attention_mask",), "held", {"to": FLOAT}, "")
    scaled = floats(graph, weights, "norm.w", "norm.b")
    graph.node("SkipLayerNormalization", ("word", "where", *scaled), "x", norm)
    state = layers(graph, weights, "x", "mask", weights.sizes, weights.epsilon)
    graph.node("Unsqueeze", ("held", "last"), "shown", {}, "")
    graph.node("Mul", (state, "shown"), "states", {}, "")
    graph.node("ReduceSum", ("states", "one"), "sum", {"keepdims": 0}, "")
    graph.node("ReduceSum", ("held", "one"), "count", {"keepdims": 1}, "")
    graph.node("Div", ("sum", "count"), "mean", {}, "")
    graph.node("MatMul", ("mean", "head.w"), "product", {}, "")
    graph.node("Add", ("product", "head.b"), "sums", {}, "")
    return graph.model(("input_ids", "attention_mask", "token_type_ids"), "sums", "texts", len(RELATIONS))
