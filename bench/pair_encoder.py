"""Fits the cross-encoder of pairs (`gate/pairs.py`): all-MiniLM-L6-v2, trained on to tell what one line is to another.

It is distilled: a student begins as the mean of two teachers, and learns what both hold likely, of pairs that nobody
has labelled too. One was trained for longer, so that they err apart.

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
Pair: TypeAlias = tuple[str, str]  # an old line and a new one
Read: TypeAlias = tuple[list[int], list[int]]  # the tokens of both, and of which line each is
TEACHERS, STUDENT = ((3, 1e-4), (4, 1e-4)), (2, 4e-5)  # epochs of each, and its highest rate
BATCH, WARM = 32, 0.06  # the highest rate is reached after the share WARM of all steps
_LABEL = 0.3  # share of the label in what the student aims at; the rest is what its teachers say
_NEAR, _PASSED, _LEARNT = 45_000, 20_000, 25_000  # unlabelled pairs: of two kinds teachers read so many, it learns most
_NEXT, _LIKE = 4, (0.1, 0.9)  # so many old lines nearest to a new one, at a distance (0…1) between these
_SURE, _SAMPLED = 0.03, 0.1  # where teachers are as sure as that of news, or of none, it learns such a share
_NEWS = [RELATIONS.index(one) for one in ("update", "ended")]
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
    rows, chosen = [*_rows(examples)], random.Random(0)
    told = [_tokens(tokenizer, *texts) for texts, _, counts in rows if counts]
    labels = np.stack([_aim(relation, counts) for _, relation, counts in rows if counts])
    teachers = [_train(_base(base), told, labels, *how, log) for how in TEACHERS]
    counted = labels.sum(axis=1, keepdims=True)
    aims = _LABEL * labels + (1 - _LABEL) * counted * _agreed(teachers, told)
    others = [_tokens(tokenizer, *texts) for texts in _unlabelled(rows, chosen)]
    likely = _agreed(teachers, others)
    sure = np.abs(likely[:, _NEWS].sum(axis=1) - 0.5) > 0.5 - _SURE
    learnt = [at for at in range(len(others)) if not sure[at] or chosen.random() < _SAMPLED][:_LEARNT]
    told, aims = [*told, *(others[at] for at in learnt)], np.concatenate([aims, likely[learnt]])
    mean = {name: np.mean([one[name] for one in teachers], axis=0) for name in teachers[0]}
    weights = _train(mean, told, aims, *STUDENT, log)
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(_model(_Weights(weights)))
    copyfile(base / "tokenizer.json", folder / "tokenizer.json")


def _rows(examples: Sequence[Example]) -> Iterator[tuple[Pair, int, float]]:
    """Yield the parts that the linear model chooses, their relation, and how much they count: 0 for those passed over.

    The model is not asked about what the linear one never takes for news: of such pairs a quarter is enough.
    """
    chosen = random.Random(0)
    for one in examples:
        old, new = (line_of(text, one.language) for text in (one.old, one.new))
        judged = by_words(new, old, one.related)
        far = (not judged or judged.news < LEAST) and one.want not in RELATIONS
        passed = far and (one.counts <= 1 or chosen.random() >= 0.25)
        yield judged.texts if judged else (one.old, one.new), one.relation, 0.0 if passed else one.counts / 2


def _unlabelled(rows: Sequence[tuple[Pair, int, float]], chosen: random.Random) -> list[Pair]:
    """Return pairs to read without a label, in any order: those passed over, and lines beside others near by words."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.neighbors import NearestNeighbors

    known = {texts for texts, _, counts in rows if counts}
    passed = [texts for texts, _, counts in rows if not counts]
    olds, news = (sorted({*texts}) for texts in zip(*known, strict=True))
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2).fit([*olds, *news])
    nearest = NearestNeighbors(n_neighbors=_NEXT, metric="cosine").fit(words.transform(olds))
    near = [
        (olds[at], new)
        for new, *row in zip(news, *nearest.kneighbors(words.transform(news)), strict=True)
        for distance, at in zip(*row, strict=True)
        if _LIKE[0] < distance < _LIKE[1] and (olds[at], new) not in known
    ]
    found = [*chosen.sample(near, min(len(near), _NEAR)), *chosen.sample(passed, min(len(passed), _PASSED))]
    return chosen.sample(found, len(found))


def _aim(relation: int, counts: float) -> "NDArray[np.float32]":
    """Return what a label has the model aim at, by relation: in sum how much it counts."""
    aim = np.full(len(RELATIONS), _SMOOTHED / len(RELATIONS), np.float32)
    aim[relation] += 1 - _SMOOTHED
    return aim * np.float32(counts)


def _tokens(tokenizer: Any, old: str, new: str) -> Read:
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


def _train(
    weights: Tree, read: Sequence[Read], aims: "NDArray[np.float32]", epochs: int, rate: float, log: Any
) -> Tree:
    """Return the weights after all epochs; those of words stay as they are, so that rare ones keep their meaning.

    `aims` (pairs, RELATIONS) tells what is to be held likely of each pair, and in sum how much it counts.
    """
    import jax
    import jax.numpy as jnp
    import optax

    jax.config.update("jax_default_prng_impl", "unsafe_rbg")  # the usual one takes a third of a step
    words, chosen = (
        jnp.asarray(weights.pop("words")),
        random.Random(epochs),
    )  # teachers see pairs in orders of their own
    weights = {name: jnp.asarray(values) for name, values in weights.items()}
    steps = epochs * sum(1 for _ in _batches(read, range(len(read))))
    rates = optax.warmup_cosine_decay_schedule(0, rate, int(WARM * steps), steps, rate / 50)
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rates, weight_decay=0.01))
    state, key = rule.init(weights), jax.random.key(epochs)

    def loss(weights: Tree, given: Sequence[Any], aim: Any, key: Any) -> Any:
        likely = jax.nn.log_softmax(_sums({**weights, "words": words}, given, key))
        return -(likely * aim).sum() / aim.sum()

    def step(weights: Tree, state: Any, given: Sequence[Any], aim: Any, key: Any) -> tuple[Tree, Any, Any]:
        missed, slope = jax.value_and_grad(loss)(weights, given, aim, key)
        change, state = rule.update(slope, state, weights)
        return optax.apply_updates(weights, change), state, missed

    compiled = jax.jit(step)
    done, missed = 0, []
    for _ in range(epochs):
        order = [*range(len(read))]
        chosen.shuffle(order)
        batches = [*_batches(read, order)]
        chosen.shuffle(batches)
        for length, batch in batches:
            aim = np.zeros((BATCH, len(RELATIONS)), np.float32)
            aim[: len(batch)] = aims[batch]
            given = _arrays(read, length, batch)
            weights, state, one = compiled(weights, state, given, aim, jax.random.fold_in(key, done))
            done += 1
            missed.append(one)
            if done % 100 == 0:
                log(f"{done} of {steps} steps, loss {float(np.mean(missed[-100:])):.3f}", flush=True)
    return {name: np.asarray(values) for name, values in ({**weights, "words": words}).items()}


def _agreed(models: Sequence[Tree], read: Sequence[Read]) -> "NDArray[np.float32]":
    """Return the geometric mean of what models hold likely: (pairs, RELATIONS), in sum less where they differ."""
    import jax

    likely = jax.jit(lambda weights, given: jax.nn.log_softmax(_sums(weights, given)))
    placed, found = jax.device_put(models), np.zeros((len(read), len(RELATIONS)), np.float32)
    for length, batch in _batches(read, range(len(read))):
        given = _arrays(read, length, batch)
        found[batch] = np.mean([likely(one, given) for one in placed], axis=0)[: len(batch)]
    return np.exp(found)


def _sums(weights: Tree, given: Sequence[Any], key: Any = None) -> Any:
    """Return the sums by relation of a batch: (pairs, RELATIONS). The same model as `_model` writes.

    In training, `key` chooses what is dropped.
    """
    import jax
    import jax.numpy as jnp

    ids, kinds, mask = given
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
        if key is None:
            return x
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


def _batches(read: Sequence[Read], order: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield batches of pairs of like length, in some order, each with the length that it is filled up to."""
    waiting = dict[int, list[int]]()
    for at in order:
        length = next(one for one in _LENGTHS if len(read[at][0]) <= one)
        waiting.setdefault(length, []).append(at)
        if len(waiting[length]) == BATCH:
            yield length, waiting.pop(length)
    yield from waiting.items()


def _arrays(read: Sequence[Read], length: int, batch: Sequence[int]) -> "tuple[NDArray[Any], ...]":
    """Return a batch as arrays: tokens, of which line each is, and their mask."""
    ids, kinds = (np.zeros((BATCH, length), np.int32) for _ in range(2))
    mask = np.zeros((BATCH, length), np.float32)
    mask[:, 0] = 1
    for row, at in enumerate(batch):
        tokens, which = read[at]
        ids[row, : len(tokens)], kinds[row, : len(tokens)], mask[row, : len(tokens)] = tokens, which, 1
    return ids, kinds, mask


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
