"""Any model that the library fastembed knows, by its name there: in ONNX, without torch."""

from collections.abc import Sequence

from memgraph_engine.errors import EmbeddingError, MissingExtra
from memgraph_engine.settings import Settings


class FastembedEmbedder:
    """Vectors of a TextEmbedding, which fetches its model from a hub into the cache, the first time."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.name = f"fastembed/{model}"
        try:
            from fastembed import TextEmbedding
        except ImportError:
            raise MissingExtra(f"The embedder {self.name}", "fastembed") from None
        try:
            self._model = TextEmbedding(model, cache_dir=str(settings.cache / "fastembed"))
        except Exception as error:  # of the library, and of the hub that it fetches from
            raise EmbeddingError(f"fastembed could not load {model!r}: {error}") from error
        self._batch, self._query, self._passage = (
            settings.embedding_batch,
            settings.embedding_query,
            settings.embedding_passage,
        )

    def embed_documents(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector for each text."""
        return [*self._model.passage_embed([self._passage + text for text in texts], batch_size=self._batch)]

    def embed_query(self, text: str) -> Sequence[float]:
        """Return the vector of a question."""
        vector: Sequence[float] = next(iter(self._model.query_embed(self._query + text)))
        return vector
