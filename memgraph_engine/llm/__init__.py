"""Chat models: roles that ask them, prompts, answers that are checked, budgets that are kept."""

from memgraph_engine.llm.meter import Gauge, Meter
from memgraph_engine.llm.requests import (
    NewNote,
    Request,
    TextRequest,
    TopicKeywords,
    Turn,
    answering,
    assessing,
    batches,
    briefly,
    extraction,
    gating,
    judging,
    labelling,
    merging,
    planning,
)
from memgraph_engine.llm.roles import Answer, Roles, Told, chat_named
from memgraph_engine.llm.spent import Spent

__all__ = [
    "Answer",
    "Gauge",
    "Meter",
    "NewNote",
    "Request",
    "Roles",
    "Spent",
    "TextRequest",
    "Told",
    "TopicKeywords",
    "Turn",
    "answering",
    "assessing",
    "batches",
    "briefly",
    "chat_named",
    "extraction",
    "gating",
    "judging",
    "labelling",
    "merging",
    "planning",
]
