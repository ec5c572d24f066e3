"""Embedders: in process by ONNX, fastembed or sentence-transformers, LiteLLM, or a user's own object."""
