"""A page to look at a memory: rendered here, without a script, and with nothing from another host (docs/page.md)."""

from memgraph_engine.integrations.page.routes import AT, install

__all__ = ["AT", "install"]
