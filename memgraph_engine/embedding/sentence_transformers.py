"""Any model of the sentence-transformers library, by its name or folder."""

from collections.abc import Sequence

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import EmbeddingError, MissingExtra


class SentenceTransformersEmbedder:
    """Vectors of length 1 from a SentenceTransformer; the library batches and sorts by length itself."""

    def __init__(self, model: str, batch: int) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtra(f"the embedder sentence-transformers/{model}", "sentence-transformers") from None
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
