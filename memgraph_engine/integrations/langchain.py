"""LangChain's retriever on a memory (docs/langchain.md): a search, whose hits are documents that tell their sources."""

import asyncio
from typing import Any, Literal

from pydantic import Field

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, needed
from memgraph_engine.interface.defaults import TOP_K
from memgraph_engine.interface.filters import FILTERS, unknown
from memgraph_engine.interface.results import json_form
from memgraph_engine.model.result import Hit

with needed("A LangChain retriever", "langchain"):
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever


class MemgraphRetriever(BaseRetriever):
    """Finds the notes of a user's memory, or of the shared one, that answer a question best.

    `k` is how many, and `filters` are those of `Memory.search`; `invoke` takes both anew for one question. The text of
    a document is the note's own words, or with `text="context"` these made self-contained: with the speaker, the date,
    and what the turn before says.
    """

    memory: Memory = Field(exclude=True)
    user_id: str | None = None
    shared: bool = False
    k: int = TOP_K
    filters: dict[str, Any] = Field(default_factory=dict)
    text: Literal["words", "context"] = "words"

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **filters: Any
    ) -> list[Document]:
        del run_manager  # it tells those who trace; a search has no steps of its own to tell
        asked: dict[str, Any] = {**self.filters, **filters}
        if told := unknown(asked, FILTERS, ("k",)):
            raise InvalidInput(told)
        top_k = self.k if k is None else k
        hits = self.memory.search(query, user_id=self.user_id, shared=self.shared, top_k=top_k, **asked)
        return [self._document(hit) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None, **filters: Any
    ) -> list[Document]:
        manager = run_manager.get_sync()
        return await asyncio.to_thread(self._get_relevant_documents, query, run_manager=manager, k=k, **filters)

    def _document(self, hit: Hit) -> Document:
        note = hit.note
        told: dict[str, Any] = {
            "note": note.id,
            "sources": [source.id for source in note.sources],
            "score": hit.score,
            "similarity": hit.similarity,
            "relevance": hit.relevance,
            "speaker": note.speaker,
            "role": note.role,
            "agent": note.agent,
            "session": note.session,
            "said_at": note.said_at,
            "until": note.until,
            "replaced_by": note.replaced_by,
            "tags": note.tags,
            "policy": note.policy,
            "metadata": dict(note.metadata),
        }
        words = note.context if self.text == "context" else note.text
        return Document(words, id=note.id, metadata=json_form(told))
