"""What the engine itself holds: any embedder, with its answers checked and as arrays."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import EmbeddingError
from memgraph_engine.model.ports import Embedder
from memgraph_engine.telemetry import embedding


class CheckedEmbedder:
    """Wraps an Embedder: vectors come back float32, of one length, finite and not zero, or not at all.

    Neo4j silently leaves a vector of the wrong length out of its index, so nothing else would notice.
    """

    def __init__(self, inner: Embedder) -> None:
        name = getattr(inner, "name", None)
        if not isinstance(name, str) or not name:
            raise EmbeddingError(
                f"The embedder {inner!r} has no name; give it a `name` (a string), which the database records."
            )
        for method in ("embed_documents", "embed_query"):
            if not callable(getattr(inner, method, None)):
                raise EmbeddingError(f"The embedder {name!r} has no method {method}(…).")
        self.name = name
        self.remote = bool(getattr(inner, "remote", False))
        self.languages = tuple(getattr(inner, "languages", ()))
        """Those that it knows, of the setting `language`; () is any, or unknown."""
        self.fitted = ""
        """What `calibrate` fitted for it, as the database has it; "" without."""
        self._inner = inner
        self._dimensions: int | None = None

    @cached_property
    def probe(self) -> "NDArray[np.float32]":
        """Its vector of one word: another model has another."""
        return self.embed_query("memory")

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        return self._dimensions or len(self.probe)

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions); raises EmbeddingError."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        inner = self._inner
        try:
            with embedding(self.name) as span:
                vectors = span.run(inner.embed_documents, list(texts))
        except Exception as error:  # a stranger's code: whatever it raises, the caller learns whose it was
            raise EmbeddingError(f"The embedder {self.name!r} failed on {len(texts)} texts: {error}") from error
        return self._checked(vectors, len(texts))

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,); raises EmbeddingError."""
        inner = self._inner
        try:
            with embedding(self.name) as span:
                given = span.run(inner.embed_query, text)
        except Exception as error:  # as above
            raise EmbeddingError(f"The embedder {self.name!r} failed on a question: {error}") from error
        vector: NDArray[np.float32] = self._checked([given], 1)[0]
        return vector

    def _checked(self, vectors: object, expected: int) -> "NDArray[np.float32]":
        try:
            array = np.asarray(vectors, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise EmbeddingError(
                f"The embedder {self.name!r} gave no lists of numbers of one length: {error}"
            ) from None
        if array.ndim != 2 or len(array) != expected or not array.shape[1]:
            raise EmbeddingError(
                f"The embedder {self.name!r} gave an array of shape {array.shape} for {expected} texts; "
                "one vector for each is needed."
            )
        if self._dimensions is not None and array.shape[1] != self._dimensions:
            raise EmbeddingError(
                f"The embedder {self.name!r} gave vectors of {array.shape[1]} numbers, before of {self._dimensions}."
            )
        norms = np.linalg.norm(array, axis=1)
        faulty = next((i for i, norm in enumerate(norms) if not math.isfinite(norm) or norm == 0), None)
        if faulty is not None:
            raise EmbeddingError(f"The embedder {self.name!r} gave a zero or non-finite vector for text {faulty}.")
        self._dimensions = array.shape[1]
        return array


class DeferredEmbedder(CheckedEmbedder):
    """One that a database has, and that is loaded when it first embeds: what embeds nothing needs no model."""

    def __init__(self, name: str, dimensions: int, fitted: str, load: Callable[[], CheckedEmbedder]) -> None:
        self.name, self._dimensions, self.fitted, self._load = name, dimensions, fitted, load

    def __getattr__(self, name: str) -> Any:
        """Load it for what it alone has; called for what is not there yet."""
        one = self._load()
        self._inner, self.remote, self.languages = one._inner, one.remote, one.languages
        return getattr(one, name)
