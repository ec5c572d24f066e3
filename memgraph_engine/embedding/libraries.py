"""Embedders of other libraries: of sentence-transformers, of fastembed, and of the providers that LiteLLM speaks to."""

from collections.abc import Sequence

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import EmbeddingError, needed
from memgraph_engine.providers import load_litellm
from memgraph_engine.settings import Settings


class SentenceTransformersEmbedder:
    """Vectors of length 1 from a SentenceTransformer; the library batches and sorts by length itself."""

    def __init__(self, model: str, batch: int) -> None:
        with needed(f"the embedder sentence-transformers/{model}", "sentence-transformers"):
            from sentence_transformers import SentenceTransformer
        try:
            self._model = SentenceTransformer(model)
        except (OSError, ValueError) as error:
            raise EmbeddingError(f"sentence-transformers could not load {model!r}: {error}") from error
        self.name = f"sentence-transformers/{model.rstrip('/').rpartition('/')[2]}"
        self._batch = batch

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (texts, dimensions), each text behind the model's own prompt for one."""
        return self._model.encode_document(  # type: ignore[no-any-return]
            list(texts), batch_size=self._batch, normalize_embeddings=True, show_progress_bar=False
        )

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return an array of shape (dimensions,), the text behind the model's own prompt for a question."""
        return self._model.encode_query(  # type: ignore[no-any-return]
            text, normalize_embeddings=True, show_progress_bar=False
        )


class FastembedEmbedder:
    """Vectors of a TextEmbedding, which fetches its model from a hub into the cache, the first time."""

    def __init__(self, model: str, settings: Settings) -> None:
        self.name = f"fastembed/{model}"
        with needed(f"The embedder {self.name}", "fastembed"):
            from fastembed import TextEmbedding
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


class LiteLLMEmbedder:
    """Vectors of a provider's model; keys and addresses come from LiteLLM's own environment variables."""

    remote = True

    def __init__(self, model: str, batch: int) -> None:
        self._litellm = load_litellm(f"the embedder litellm/{model}")
        self._model = model
        self._batch = batch
        self.name = f"litellm/{model}"

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text, asked for in batches."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._batch):
            vectors += self._ask(list(texts[start : start + self._batch]))
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self._ask([text])[0]

    def _ask(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = self._litellm.embedding(model=self._model, input=texts, num_retries=3)
        except self._litellm.exceptions.APIError as error:
            raise EmbeddingError(f"{self._model} refused {len(texts)} texts: {error}") from error
        rows = sorted(answer.data, key=lambda row: row["index"])
        return [row["embedding"] for row in rows]
