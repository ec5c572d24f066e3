"""Embeddings of any provider that LiteLLM speaks to."""

from collections.abc import Sequence

from memgraph_engine.errors import EmbeddingError
from memgraph_engine.providers import load_litellm


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
