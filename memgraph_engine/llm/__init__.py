"""Chat models: roles that ask them, prompts, answers that are checked, budgets that are kept."""

from memgraph_engine.llm.meter import Gauge, Meter
from memgraph_engine.llm.requests import (
    NewNote,
    Request,
    TopicKeywords,
    Turn,
    batches,
    extraction,
    gating,
    labelling,
    merging,
)
from memgraph_engine.llm.roles import Answer, Roles
from memgraph_engine.llm.spent import Spent

__all__ = [
    "Answer",
    "Gauge",
    "Meter",
    "NewNote",
    "Request",
    "Roles",
    "Spent",
    "TopicKeywords",
    "Turn",
    "batches",
    "extraction",
    "gating",
    "labelling",
    "merging",
]
