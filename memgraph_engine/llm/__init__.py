"""Chat models: roles that ask them, prompts, answers that are checked, budgets that are kept."""

from memgraph_engine.llm.meter import (
    Gauge as Gauge,
    Meter as Meter,
)
from memgraph_engine.llm.requests import (
    AbstractedNote as AbstractedNote,
    BlockNote as BlockNote,
    BlockNotes as BlockNotes,
    NewNote as NewNote,
    Request as Request,
    TextRequest as TextRequest,
    TopicKeywords as TopicKeywords,
    Turn as Turn,
    abstracting as abstracting,
    answering as answering,
    answering_brief as answering_brief,
    batches as batches,
    consolidation as consolidation,
    describing as describing,
    evolving as evolving,
    extraction as extraction,
    gating as gating,
    judging as judging,
    labelling as labelling,
    merging as merging,
    planning as planning,
    profiling as profiling,
    selecting as selecting,
    sufficiency as sufficiency,
)
from memgraph_engine.llm.roles import (
    CheckedAnswer as CheckedAnswer,
    Roles as Roles,
    TextAnswer as TextAnswer,
    chat_named as chat_named,
)
from memgraph_engine.llm.spent import (
    Spent as Spent,
)
