"""Models in ONNX, written without its library: of the messages of protocol buffers they need few.

The layers are those of a transformer that reads, as BERT has them, with weights in 4 bits.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from memgraph_engine.arrays import NDArray

FLOAT, BYTE, INT32, INT64, INT4 = 1, 2, 6, 7, 22  # types of ONNX
BLOCK = 32  # weights of 4 bits that share a scale
MICROSOFT = "com.microsoft"  # onnxruntime's own operators, which take weights in 4 bits


class Graph:
    """A graph in the making: operators, and constants that they read."""

    def __init__(self) -> None:
        self._nodes: list[tuple[int, bytes]] = []
        self._tensors: list[tuple[int, bytes]] = []

    def node(
        self, operator: str, inputs: Sequence[str], output: str, given: Mapping[str, float], domain: str = MICROSOFT
    ) -> None:
        """Add an operator, with its attributes."""
        attributes = ((5, _attribute(*one)) for one in given.items())
        named = (*((1, one) for one in inputs), (2, output), (4, operator), (7, domain))
        self._nodes.append((1, message(*named, *attributes)))

    def tensor(self, name: str, kind: int, shape: Sequence[int], values: "NDArray[Any]") -> None:
        """Add a constant; of 4 bits there are two a byte."""
        self._tensors.append((5, message(*((1, one) for one in shape), (2, kind), (8, name), (9, values.tobytes()))))

    def model(self, inputs: Sequence[str], output: str, *shape: str | int) -> bytes:
        """Return the model: its inputs are whole numbers of the shape (texts, tokens), its output is of this shape."""
        ends = [(11, _value(name, INT64, "texts", "tokens")) for name in inputs]
        ends.append((12, _value(output, FLOAT, *shape)))
        graph = message(*self._nodes, (2, "graph"), *self._tensors, *ends)
        versions = ((8, message((1, domain), (2, version))) for domain, version in (("", 21), (MICROSOFT, 1)))
        return message((1, 10), *versions, (7, graph))


class Weights(Protocol):
    """The weights of a model, by name."""

    def floats(self, *names: str) -> "NDArray[Any]":
        """Return weights as they are, one behind the other."""

    def quartets(self, name: str) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Return weights in 4 bits, two a byte, and the scale of each block."""


def layers(graph: Graph, weights: Weights, state: str, mask: str, sizes: Sequence[int], epsilon: float) -> str:
    """Add all layers behind a state, with a mask of its tokens as INT32; returns the name of the last state.

    `sizes` are the model's width, its layers, its heads, and the width within a layer.
    """
    (width, number, heads, inner), norm = sizes, {"epsilon": epsilon}
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


def _attribute(name: str, value: float) -> bytes:
    given = ((3, value), (20, 2)) if isinstance(value, int) else ((2, value), (20, 1))
    return message((1, name), *given)


def _value(name: str, kind: int, *shape: str | int) -> bytes:
    sizes = ((1, message((2, one) if isinstance(one, str) else (1, one))) for one in shape)
    return message((1, name), (2, message((1, message((1, kind), (2, message(*sizes)))))))


def message(*fields: tuple[int, str | bytes | float]) -> bytes:
    """Write fields of a protocol buffer, each its number and its value.

    >>> message((1, 300), (2, "ab")).hex()
    '08ac0212026162'
    """
    parts = []
    for number, value in fields:
        if isinstance(value, (str, bytes)):
            raw = value.encode() if isinstance(value, str) else value
            parts += [_varint(number << 3 | 2), _varint(len(raw)), raw]
        elif isinstance(value, int):
            parts += [_varint(number << 3), _varint(value)]
        else:
            parts += [_varint(number << 3 | 5), struct.pack("<f", value)]
    return b"".join(parts)


def _varint(value: int) -> bytes:
    low = []
    while value > 127:
        low.append(value & 127 | 128)
        value >>= 7
    return bytes([*low, value])
