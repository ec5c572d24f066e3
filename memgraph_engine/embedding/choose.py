"""From the setting `embedder` to an embedder."""

from memgraph_engine.artifacts import model_files
from memgraph_engine.embedding.onnx import MODELS, OnnxEmbedder
from memgraph_engine.errors import SettingsError
from memgraph_engine.model.ports import Embedder
from memgraph_engine.settings import Settings


def embedder_named(settings: Settings) -> Embedder:
    """Load the embedder that the settings name; fetches a model file when it is not there yet."""
    family, _, model = settings.embedder.partition("/")
    if settings.embedder in MODELS:
        return OnnxEmbedder(
            MODELS[settings.embedder],
            model_files(settings.embedder, settings),
            batch=settings.embedding_batch,
            tokens=settings.embedding_tokens,
        )
    if family == "sentence-transformers" and model:
        from memgraph_engine.embedding.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(model, settings.embedding_batch)
    if family == "litellm" and model:
        from memgraph_engine.embedding.litellm import LiteLLMEmbedder

        return LiteLLMEmbedder(model, settings.embedding_batch)
    raise SettingsError(
        f"There is no embedder {settings.embedder!r}: choose {', '.join(MODELS)}, sentence-transformers/MODEL "
        "or litellm/MODEL, or give an object of your own to Memory.connect(embedder=…)."
    )
