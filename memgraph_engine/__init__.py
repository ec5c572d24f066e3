"""A knowledge memory engine for LLM agents whose memory is one Neo4j graph.

Everything that a program needs has its name here: `Memory`, what its calls return, what may be exchanged (`Embedder`,
`ChatModel`, `Judge`, `Reranker`), and the errors.

>>> from memgraph_engine import Memory
>>> Memory.connect  # doctest: +ELLIPSIS
<bound method Memory.connect of ...>
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgraph_engine.aio import AsyncMemory
    from memgraph_engine.client import Memory, Message, MessageFields
    from memgraph_engine.cost import Budget, Cost
    from memgraph_engine.errors import (
        AuthenticationFailed,
        BudgetSpent,
        ClockSkew,
        Closed,
        ConstructionFailed,
        DownloadError,
        EmbeddingError,
        ErasureRefused,
        Held,
        InvalidInput,
        KeyRefused,
        LocalServerError,
        MemgraphEngineError,
        MissingExtra,
        ModelError,
        ModelRefused,
        ModelUnavailable,
        NotAllowed,
        NotFound,
        Overloaded,
        PolicyError,
        QueryFailed,
        ServerTooOld,
        SettingsError,
        SourceConflict,
        StoreError,
        StoreMismatch,
        UndoRefused,
        Unreachable,
        Unusable,
        WriteConflict,
    )
    from memgraph_engine.interface.filters import NoteFilters, SearchFilters
    from memgraph_engine.model.answer import Answer, Cited, Context
    from memgraph_engine.model.block import Block, BlockRun
    from memgraph_engine.model.claim import Claim, ClaimRun
    from memgraph_engine.model.fact import Fact
    from memgraph_engine.model.health import Health, Undone
    from memgraph_engine.model.ingested import Brought, Fault, Ingested, Remark, Skipped
    from memgraph_engine.model.job import JobRun
    from memgraph_engine.model.memory import Note, Source
    from memgraph_engine.model.ports import (
        ChatModel,
        Clock,
        Embedder,
        Judge,
        Judgement,
        Partitioner,
        Pricing,
        Reply,
        Reranker,
        StreamingChat,
    )
    from memgraph_engine.model.profile import Attribute, Delta, Profile
    from memgraph_engine.model.prompt import Prompt, Section
    from memgraph_engine.model.result import (
        About,
        Anchor,
        Applied,
        CacheStats,
        Change,
        ChannelScore,
        Chosen,
        Considered,
        Decision,
        Deletion,
        Entry,
        ErasurePlan,
        ErasureReceipt,
        Evicted,
        Evolved,
        Explanation,
        Exported,
        Given,
        Hit,
        Hits,
        Hold,
        Imported,
        Known,
        PassageEntry,
        QueryPlan,
        Receipt,
        Reflected,
        Reflection,
        Removed,
        Reranked,
        Retrieval,
        Round,
        Session,
        Spending,
        Stats,
        Story,
        Swept,
        Tenant,
        Tie,
        User,
        Version,
    )
    from memgraph_engine.model.topic import Move, Topic, TopicRun, TopicTie
    from memgraph_engine.settings import Settings

__all__ = [
    "About",
    "Anchor",
    "Answer",
    "Applied",
    "AsyncMemory",
    "Attribute",
    "AuthenticationFailed",
    "Block",
    "BlockRun",
    "Brought",
    "Budget",
    "BudgetSpent",
    "CacheStats",
    "Change",
    "ChannelScore",
    "ChatModel",
    "Chosen",
    "Cited",
    "Claim",
    "ClaimRun",
    "Clock",
    "ClockSkew",
    "Closed",
    "Considered",
    "ConstructionFailed",
    "Context",
    "Cost",
    "Decision",
    "Deletion",
    "Delta",
    "DownloadError",
    "Embedder",
    "EmbeddingError",
    "Entry",
    "ErasurePlan",
    "ErasureReceipt",
    "ErasureRefused",
    "Evicted",
    "Evolved",
    "Explanation",
    "Exported",
    "Fact",
    "Fault",
    "Given",
    "Health",
    "Held",
    "Hit",
    "Hits",
    "Hold",
    "Imported",
    "Ingested",
    "InvalidInput",
    "JobRun",
    "Judge",
    "Judgement",
    "KeyRefused",
    "Known",
    "LocalServerError",
    "MemgraphEngineError",
    "Memory",
    "Message",
    "MessageFields",
    "MissingExtra",
    "ModelError",
    "ModelRefused",
    "ModelUnavailable",
    "Move",
    "NotAllowed",
    "NotFound",
    "Note",
    "NoteFilters",
    "Overloaded",
    "Partitioner",
    "PassageEntry",
    "PolicyError",
    "Pricing",
    "Profile",
    "Prompt",
    "QueryFailed",
    "QueryPlan",
    "Receipt",
    "Reflected",
    "Reflection",
    "Remark",
    "Removed",
    "Reply",
    "Reranked",
    "Reranker",
    "Retrieval",
    "Round",
    "SearchFilters",
    "Section",
    "ServerTooOld",
    "Session",
    "Settings",
    "SettingsError",
    "Skipped",
    "Source",
    "SourceConflict",
    "Spending",
    "Stats",
    "StoreError",
    "StoreMismatch",
    "Story",
    "StreamingChat",
    "Swept",
    "Tenant",
    "Tie",
    "Topic",
    "TopicRun",
    "TopicTie",
    "UndoRefused",
    "Undone",
    "Unreachable",
    "Unusable",
    "User",
    "Version",
    "WriteConflict",
]
__version__ = "0.1.0"

_NAMES = {
    "aio": "AsyncMemory",
    "client": "Memory Message MessageFields",
    "cost": "Budget Cost",
    "errors": (
        "AuthenticationFailed BudgetSpent ClockSkew Closed ConstructionFailed DownloadError EmbeddingError "
        "ErasureRefused Held InvalidInput KeyRefused LocalServerError MemgraphEngineError MissingExtra ModelError "
        "ModelRefused ModelUnavailable NotAllowed NotFound Overloaded PolicyError QueryFailed ServerTooOld "
        "SettingsError SourceConflict StoreError StoreMismatch UndoRefused Unreachable Unusable WriteConflict"
    ),
    "interface.filters": "NoteFilters SearchFilters",
    "model.answer": "Answer Cited Context",
    "model.fact": "Fact",
    "model.health": "Health Undone",
    "model.ingested": "Brought Fault Ingested Remark Skipped",
    "model.job": "JobRun",
    "model.memory": "Note Source",
    "model.ports": "ChatModel Clock Embedder Judge Judgement Partitioner Pricing Reply Reranker StreamingChat",
    "model.profile": "Attribute Delta Profile",
    "model.prompt": "Prompt Section",
    "model.result": (
        "About Anchor Applied CacheStats Change ChannelScore Chosen Considered Decision Deletion Entry "
        "ErasurePlan ErasureReceipt Evicted Evolved Explanation Exported Given Hit Hits Hold Imported Known "
        "PassageEntry QueryPlan Receipt Reflected Reflection Removed Reranked Retrieval Round Session Spending Stats "
        "Story Swept Tenant Tie User Version"
    ),
    "model.block": "Block BlockRun",
    "model.claim": "Claim ClaimRun",
    "model.topic": "Move Topic TopicRun TopicTie",
    "settings": "Settings",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    """List the public names too, for whoever completes or looks around."""
    return sorted({*globals(), *__all__})
