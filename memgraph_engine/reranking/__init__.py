"""Rerankers of the notes found for a question: a cross-encoder, a provider's model, or a user's own object."""

from memgraph_engine.reranking.choose import check_reranker, reranker_named

__all__ = ["check_reranker", "reranker_named"]
