"""Rerankers of the notes found for a question: a cross-encoder, a provider's model, or a user's own object."""
