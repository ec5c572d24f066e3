"""Embedders: in process by ONNX, fastembed or sentence-transformers, LiteLLM, or a user's own object."""

from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.embedding.choose import embedder_named, named_in

__all__ = ["CheckedEmbedder", "embedder_named", "named_in"]
