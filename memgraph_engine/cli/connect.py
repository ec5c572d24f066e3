"""How a command reaches the memory."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgraph_engine.client import Memory


def connect(tenant: str | None) -> "Memory":
    """Connect as the settings say; the imports that this takes are made here, so that `--help` is fast."""
    from memgraph_engine.client import Memory

    return Memory.connect(tenant=tenant)
