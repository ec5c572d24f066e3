"""Judges of whether two texts state the same: a cross-encoder, or a user's own object."""

from memgraph_engine.judging.choose import judge_named

__all__ = ["judge_named"]
