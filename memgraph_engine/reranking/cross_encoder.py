"""A cross-encoder that reads a question and a text together, by its name or folder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memgraph_engine.errors import MissingExtra, SettingsError
from memgraph_engine.forks import lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CrossEncoderReranker:
    """A CrossEncoder of sentence-transformers that gives one score to a pair: one trained on MS MARCO, say."""

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError:
            raise MissingExtra(f"the reranker sentence-transformers/{model}", "sentence-transformers") from None
        try:
            self._model = CrossEncoder(model)
        except (OSError, ValueError) as error:
            raise SettingsError(f"sentence-transformers could not load the reranker {model!r}: {error}") from error
        self._lock = lock()  # a tokenizer must not be shared between threads
        self.name = f"sentence-transformers/{model.rstrip('/').rpartition('/')[2]}"
        shape = self.rerank("Is it one?", ["It is one."]).shape
        if shape != (1,):
            raise SettingsError(
                f"The cross-encoder {model!r} gives {shape[-1]} numbers to a pair of texts; a reranker gives one."
            )

    def rerank(self, question: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts,)."""
        with self._lock:
            scores: NDArray[np.float32] = self._model.predict(
                [(question, text) for text in texts], show_progress_bar=False
            )
        return scores
