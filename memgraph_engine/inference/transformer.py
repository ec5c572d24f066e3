"""The layers of a transformer that reads, as BERT has them, in ONNX, their weights in 4 bits."""

from collections.abc import Sequence
from typing import Any, Protocol

from memgraph_engine.arrays import NDArray
from memgraph_engine.inference.graph import BYTE, FLOAT, Graph

BLOCK = 32  # weights that share a scale


class Weights(Protocol):
    """The sizes of a model, and its weights by name."""

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Width, layers, heads, and the width within a layer."""

    @property
    def epsilon(self) -> float:
        """What keeps a norm from dividing by 0."""

    def floats(self, *names: str) -> "NDArray[Any]":
        """Return weights as they are, one behind the other."""

    def quartets(self, name: str) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Return weights in 4 bits, two a byte, and the scale of each block."""


def layers(graph: Graph, weights: Weights, state: str, mask: str) -> str:
    """Add all layers behind a state, with a mask of its tokens as INT32; returns the name of the last state."""
    width, number, heads, inner = weights.sizes
    norm = {"epsilon": weights.epsilon}
    for layer in range(number):
        of = f"l{layer}.".__add__
        queries = [_product(graph, weights, state, of(one), (width, width)) for one in "qkv"]
        graph.tensor(of("b"), FLOAT, (3 * width,), weights.floats(*(of(f"{one}.b") for one in "qkv")))
        graph.node("MultiHeadAttention", (*queries, of("b"), mask), of("a"), {"num_heads": heads})
        out = _product(graph, weights, of("a"), of("ao"), (width, width))
        scaled = floats(graph, weights, of("aln.w"), of("aln.b"), of("ao.b"))
        graph.node("SkipLayerNormalization", (state, out, *scaled), of("y"), norm)
        within = _product(graph, weights, of("y"), of("fi"), (inner, width))
        graph.node("BiasGelu", (within, *floats(graph, weights, of("fi.b"))), of("g"), {})
        out = _product(graph, weights, of("g"), of("fo"), (width, inner))
        scaled = floats(graph, weights, of("oln.w"), of("oln.b"), of("fo.b"))
        graph.node("SkipLayerNormalization", (of("y"), out, *scaled), of("x"), norm)
        state = of("x")
    return state


def floats(graph: Graph, weights: Weights, *names: str) -> Sequence[str]:
    """Add weights as they are; returns their names."""
    for name in names:
        values = weights.floats(name)
        graph.tensor(name, FLOAT, values.shape, values)
    return names


def _product(graph: Graph, weights: Weights, state: str, name: str, shape: tuple[int, int]) -> str:
    """Add the product of a state and the transpose of weights of this shape; returns its name."""
    packed, scales = weights.quartets(f"{name}.w")
    graph.tensor(f"{name}.w", BYTE, (shape[0], shape[1] // BLOCK, BLOCK // 2), packed)
    graph.tensor(f"{name}.s", FLOAT, (scales.size,), scales)
    sizes = {"N": shape[0], "K": shape[1], "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
    graph.node("MatMulNBits", (state, f"{name}.w", f"{name}.s"), f"{name}.p", sizes)
    return f"{name}.p"
