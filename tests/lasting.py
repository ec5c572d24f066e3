"""A memory that many tests read, and none writes to: it is made once."""

from contextlib import contextmanager
from uuid import uuid4

from memgraph_engine import Memory
from memgraph_engine.testing import purge


@contextmanager
def lasting(embedder, **given):
    """Connect to a tenant of its own, and remove that at the end."""
    tenant = f"test-{uuid4().hex}"
    try:
        with Memory.connect(tenant=tenant, embedder=embedder, **given) as memory:
            yield memory
    finally:
        purge(tenant)
