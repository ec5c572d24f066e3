"""A knowledge memory engine for LLM agents whose memory is one Neo4j graph.

Everything that a program needs has its name here: `Memory`, what its calls return, what may be exchanged (`Embedder`,
`ChatModel`, `Judge`, `Reranker`, `Redactor`), and the errors.

>>> from memgraph_engine import Memory
>>> Memory.connect  # doctest: +ELLIPSIS
<bound method Memory.connect of ...>
"""

from typing import TYPE_CHECKING

from memgraph_engine import resources

if TYPE_CHECKING:
    from memgraph_engine.aio import (
        AsyncMemory as AsyncMemory,
    )
    from memgraph_engine.client import (
        Memory as Memory,
    )
    from memgraph_engine.cost import (
        Budget as Budget,
        Cost as Cost,
    )
    from memgraph_engine.errors import (
        AuthenticationFailed as AuthenticationFailed,
        BudgetSpent as BudgetSpent,
        ClockSkew as ClockSkew,
        Closed as Closed,
        ConstructionFailed as ConstructionFailed,
        DownloadError as DownloadError,
        EmbeddingError as EmbeddingError,
        ErasureRefused as ErasureRefused,
        Held as Held,
        InvalidInput as InvalidInput,
        IssuerFailed as IssuerFailed,
        KeyRefused as KeyRefused,
        LocalServerError as LocalServerError,
        MemgraphEngineError as MemgraphEngineError,
        MissingExtra as MissingExtra,
        ModelError as ModelError,
        ModelRefused as ModelRefused,
        ModelUnavailable as ModelUnavailable,
        NotAllowed as NotAllowed,
        NotFound as NotFound,
        Overloaded as Overloaded,
        PolicyError as PolicyError,
        QueryFailed as QueryFailed,
        ServerTooOld as ServerTooOld,
        SettingsError as SettingsError,
        SourceConflict as SourceConflict,
        StoreError as StoreError,
        StoreMismatch as StoreMismatch,
        UndoRefused as UndoRefused,
        Unreachable as Unreachable,
        Unusable as Unusable,
        WriteConflict as WriteConflict,
    )
    from memgraph_engine.ingest.messages import (
        Message as Message,
        MessageFields as MessageFields,
    )
    from memgraph_engine.interface.filters import (
        NoteFilters as NoteFilters,
        SearchFilters as SearchFilters,
    )
    from memgraph_engine.model.answer import (
        Answer as Answer,
        Cited as Cited,
        Context as Context,
        Prompt as Prompt,
        Section as Section,
    )
    from memgraph_engine.model.block import (
        Block as Block,
        BlockRun as BlockRun,
        SalientNote as SalientNote,
    )
    from memgraph_engine.model.claim import (
        Claim as Claim,
        ClaimRun as ClaimRun,
    )
    from memgraph_engine.model.embedder import (
        EmbedderChange as EmbedderChange,
        EmbedderStatus as EmbedderStatus,
    )
    from memgraph_engine.model.fact import (
        Fact as Fact,
    )
    from memgraph_engine.model.health import (
        Health as Health,
        JobRun as JobRun,
        Undone as Undone,
    )
    from memgraph_engine.model.ingested import (
        Brought as Brought,
        Fault as Fault,
        Ingested as Ingested,
        Remark as Remark,
        Skipped as Skipped,
    )
    from memgraph_engine.model.memory import (
        Note as Note,
        Source as Source,
    )
    from memgraph_engine.model.ports import (
        ChatModel as ChatModel,
        Clock as Clock,
        Embedder as Embedder,
        Judge as Judge,
        Judgement as Judgement,
        Partitioner as Partitioner,
        Pricing as Pricing,
        Redactor as Redactor,
        Reply as Reply,
        Reranker as Reranker,
        StreamingChat as StreamingChat,
    )
    from memgraph_engine.model.profile import (
        Delta as Delta,
        Profile as Profile,
    )
    from memgraph_engine.model.result import (
        About as About,
        Anchor as Anchor,
        Applied as Applied,
        CacheStats as CacheStats,
        Change as Change,
        ChannelScore as ChannelScore,
        Chosen as Chosen,
        Considered as Considered,
        Decision as Decision,
        Deletion as Deletion,
        Entry as Entry,
        ErasurePlan as ErasurePlan,
        ErasureReceipt as ErasureReceipt,
        Evicted as Evicted,
        Evolved as Evolved,
        Explanation as Explanation,
        Exported as Exported,
        Given as Given,
        Hit as Hit,
        Hits as Hits,
        Hold as Hold,
        Imported as Imported,
        Known as Known,
        PassageEntry as PassageEntry,
        QueryPlan as QueryPlan,
        Receipt as Receipt,
        Reflected as Reflected,
        Reflection as Reflection,
        Removed as Removed,
        Reranked as Reranked,
        Retrieval as Retrieval,
        Round as Round,
        Session as Session,
        Spending as Spending,
        Stats as Stats,
        Story as Story,
        Swept as Swept,
        Tenant as Tenant,
        Tie as Tie,
        User as User,
        Version as Version,
    )
    from memgraph_engine.model.topic import (
        Move as Move,
        Topic as Topic,
        TopicRun as TopicRun,
        TopicTie as TopicTie,
    )
    from memgraph_engine.settings import (
        Settings as Settings,
    )

__version__ = resources.VERSION

_NAMES = {
    "aio": "AsyncMemory",
    "client": "Memory",
    "cost": "Budget Cost",
    "errors": (
        "AuthenticationFailed BudgetSpent ClockSkew Closed ConstructionFailed DownloadError EmbeddingError "
        "ErasureRefused Held InvalidInput IssuerFailed KeyRefused LocalServerError MemgraphEngineError MissingExtra "
        "ModelError ModelRefused ModelUnavailable NotAllowed NotFound Overloaded PolicyError QueryFailed ServerTooOld "
        "SettingsError SourceConflict StoreError StoreMismatch UndoRefused Unreachable Unusable WriteConflict"
    ),
    "ingest.messages": "Message MessageFields",
    "interface.filters": "NoteFilters SearchFilters",
    "model.answer": "Answer Cited Context Prompt Section",
    "model.fact": "Fact",
    "model.embedder": "EmbedderChange EmbedderStatus",
    "model.health": "Health JobRun Undone",
    "model.ingested": "Brought Fault Ingested Remark Skipped",
    "model.memory": "Note Source",
    "model.ports": "ChatModel Clock Embedder Judge Judgement Partitioner Pricing Redactor Reply Reranker StreamingChat",
    "model.profile": "Delta Profile",
    "model.result": (
        "About Anchor Applied CacheStats Change ChannelScore Chosen Considered Decision Deletion Entry "
        "ErasurePlan ErasureReceipt Evicted Evolved Explanation Exported Given Hit Hits Hold Imported Known "
        "PassageEntry QueryPlan Receipt Reflected Reflection Removed Reranked Retrieval Round Session Spending Stats "
        "Story Swept Tenant Tie User Version"
    ),
    "model.block": "Block BlockRun SalientNote",
    "model.claim": "Claim ClaimRun",
    "model.topic": "Move Topic TopicRun TopicTie",
    "settings": "Settings",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)


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
