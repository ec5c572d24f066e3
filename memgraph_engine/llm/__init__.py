"""Chat models: roles that ask them, prompts, answers that are checked, budgets that are kept."""

from memgraph_engine.llm.meter import Gauge, Meter
from memgraph_engine.llm.requests import (
    NewNote,
    Request,
    TextRequest,
    TopicKeywords,
    Turn,
    answering,
    answering_brief,
    batches,
    consolidation,
    evolving,
    extraction,
    gating,
    judging,
    labelling,
    merging,
    planning,
    profiling,
    sufficiency,
)
from memgraph_engine.llm.roles import CheckedAnswer, Roles, TextAnswer, chat_named
from memgraph_engine.llm.spent import Spent

__all__ = [
    "CheckedAnswer",
    "Gauge",
    "Meter",
    "NewNote",
    "Request",
    "Roles",
    "Spent",
    "TextAnswer",
    "TextRequest",
    "TopicKeywords",
    "Turn",
    "answering",
    "answering_brief",
    "batches",
    "chat_named",
    "consolidation",
    "evolving",
    "extraction",
    "gating",
    "judging",
    "labelling",
    "merging",
    "planning",
    "profiling",
    "sufficiency",
]
