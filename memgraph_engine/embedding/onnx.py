"""Sentence embeddings in process, by ONNX: no torch, no network once the model file is there."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memgraph_engine.errors import MissingExtra

if TYPE_CHECKING:
    import numpy as np
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

    Texts are run in batches of similar length, since a batch is padded to its longest.
    """

    def __init__(self, model: OnnxModel, folder: Path, batch: int) -> None:
        # its wheels report to their maker by default; the variable is read when it is imported
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(f"The embedder {model.name}", "local") from None
        self.name = model.name
        self._pooling = model.pooling
        self._batch = batch
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(model.tokens)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        # idle threads of the model sleep: a program that embeds now and then keeps its cores to itself
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {node.name for node in self._session.get_inputs()}

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions)."""
        import numpy as np

        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        parts = [
            self._run([texts[i] for i in order[start : start + self._batch]])
            for start in range(0, len(order), self._batch)
        ]
        vectors = np.concatenate(parts)
        back = np.empty_like(vectors)
        back[order] = vectors
        return back

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,); these models want no prefix for questions."""
        vector: NDArray[np.float32] = self._run([text])[0]
        return vector

    def _run(self, texts: list[str]) -> "NDArray[np.float32]":
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([e.ids for e in encoded], dtype=np.int64)
        mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        tokens = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        if self._pooling == "cls":
            pooled = tokens[:, 0]
        else:
            weights = mask[:, :, None].astype(np.float32)
            pooled = (tokens * weights).sum(axis=1) / weights.sum(axis=1)
        normalised: NDArray[np.float32] = (pooled / np.linalg.norm(pooled, axis=1, keepdims=True)).astype(np.float32)
        return normalised
