"""Sentence embeddings in process, by ONNX: no torch, no network once the model file is there."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memgraph_engine.errors import MissingExtra
from memgraph_engine.forks import begun, leave

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """How a model's token vectors become one, and how many tokens it reads (the rest is cut off)."""

    name: str
    pooling: Literal["cls", "mean"]
    tokens: int


MODELS = {
    "bge-small": OnnxModel("bge-small-en-v1.5", "cls", 512),
    "minilm": OnnxModel("all-MiniLM-L6-v2", "mean", 256),
}


class OnnxEmbedder:
    """An embedder of vectors of length 1, float32, from `model.onnx` and `tokenizer.json` in a folder.

    A run of the model takes texts of similar length, since all are padded to the longest: at most `batch` texts and,
    padding included, `tokens` tokens. What a run needs grows with its tokens, and onnxruntime keeps the most that it
    ever needed.
    """

    def __init__(self, model: OnnxModel, folder: Path, *, batch: int, tokens: int) -> None:
        # its wheels report to their maker by default; the variable is read when it is imported
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(f"The embedder {model.name}", "local") from None
        self.name = model.name
        self._pooling = model.pooling
        self._batch, self._tokens = batch, tokens
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(model.tokens)
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.enable_mem_pattern = False  # a plan of the memory is kept for each shape, and shapes rarely come twice
        # idle threads of the model sleep: a program that embeds now and then keeps its cores to itself
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = str(folder / "model.onnx")
        self._load = partial(onnxruntime.InferenceSession, path, options, providers=["CPUExecutionProvider"])
        begun(self, lambda one: leave(vars(one).pop("_session", None)))  # its threads are of one process
        self._inputs = {node.name for node in self._session.get_inputs()}

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        return self._load()

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions)."""
        import numpy as np

        # what the tokenizer tells of a text takes far more room than its tokens, so it is told of a few at a time
        parts = [list(texts[start : start + self._batch]) for start in range(0, len(texts), self._batch)]
        read = [encoding.ids for part in parts for encoding in self._tokenizer.encode_batch(part)]
        order = sorted(range(len(read)), key=lambda i: len(read[i]))
        vectors = np.concatenate([self._run(some) for some in self._runs([read[i] for i in order])])
        back = np.empty_like(vectors)
        back[order] = vectors
        return back

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,); these models want no prefix for questions."""
        vector: NDArray[np.float32] = self._run([self._tokenizer.encode(text).ids])[0]
        return vector

    def _runs(self, read: list[list[int]]) -> Iterator[list[list[int]]]:
        """Cut texts, shortest first, into runs within both limits; a text alone is run however long it is."""
        start = 0
        for end, ids in enumerate(read):
            if end > start and (end - start == self._batch or (end - start + 1) * len(ids) > self._tokens):
                yield read[start:end]
                start = end
        yield read[start:]

    def _run(self, read: list[list[int]]) -> "NDArray[np.float32]":
        import numpy as np

        # padded with 0, which both models' tokenizers pad with, and which the mask hides
        ids = np.zeros((len(read), max(map(len, read))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(read):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        if self._pooling == "cls":
            pooled = states[:, 0]
        else:
            weights = mask[:, :, None].astype(np.float32)
            pooled = (states * weights).sum(axis=1) / weights.sum(axis=1)
        normalised: NDArray[np.float32] = (pooled / np.linalg.norm(pooled, axis=1, keepdims=True)).astype(np.float32)
        return normalised
