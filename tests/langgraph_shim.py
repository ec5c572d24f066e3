"""A pytest plug-in that puts MemgraphStore in the place of LangGraph's own stores, for the tests of these.

It is loaded by a run of its own (test_langgraph_foreign.py), on a server that holds nothing else.
"""

from contextlib import contextmanager
from uuid import uuid4

import langgraph.store.memory
import langgraph.store.sqlite
import numpy as np
from langgraph.store.base import ensure_embeddings

from memgraph_engine import Memory
from memgraph_engine.integrations.langgraph import MemgraphStore
from memgraph_engine.testing import HashingEmbedder

DIMENSIONS = 500


class Padded:
    """Embeddings of fewer numbers, filled up with zeros: a database holds vectors of one length, and cosines stay."""

    name = "padded"

    def __init__(self, embed):
        self._embed = ensure_embeddings(embed) if embed else HashingEmbedder(DIMENSIONS)

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        try:
            vector = self._embed.embed_query(text)
        except (KeyError, ValueError):  # one of theirs knows four texts alone; the engine embeds keywords too
            vector = [0.0] * (DIMENSIONS - 1) + [1.0]
        return np.pad(np.asarray(vector, dtype=np.float32), (0, DIMENSIONS - len(vector)))


class Ours(MemgraphStore):
    """A store whose namespaces nobody else has."""

    def __init__(self, *, index=None, ttl=None):
        embed = (index or {}).get("embed")
        memory = Memory.connect(tenant=f"foreign-{uuid4().hex}", embedder=Padded(embed))
        fields = (index or {}).get("text_fields") or (index or {}).get("fields")
        super().__init__(memory, index={"fields": fields} if fields else None, ttl=ttl)
        self.index_config = index
        self.embeddings = embed

    @classmethod
    @contextmanager
    def from_conn_string(cls, _, *, index=None, ttl=None):
        with cls(index=index, ttl=ttl) as store:
            yield store

    def setup(self):
        pass


langgraph.store.memory.InMemoryStore = Ours
langgraph.store.sqlite.SqliteStore = Ours
