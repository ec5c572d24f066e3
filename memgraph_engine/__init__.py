"""A knowledge memory engine for LLM agents whose memory is one Neo4j graph.

>>> from memgraph_engine import Memory
>>> Memory.connect  # doctest: +ELLIPSIS
<bound method Memory.connect of ...>
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgraph_engine.aio import AsyncMemory
    from memgraph_engine.client import Memory
    from memgraph_engine.errors import MemgraphEngineError
    from memgraph_engine.settings import Settings

__all__ = ["AsyncMemory", "MemgraphEngineError", "Memory", "Settings"]
__version__ = "0.1.0"

_HOMES = {"AsyncMemory": "aio", "Memory": "client", "MemgraphEngineError": "errors", "Settings": "settings"}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
