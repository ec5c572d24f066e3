"""How sources read: rendered lines, self-contained contexts, dates resolved."""

from memgraph_engine.rendering.context import Text, noise, render, said, terms, told, written
from memgraph_engine.rendering.when import Event, events, resolved

__all__ = ["Event", "Text", "events", "noise", "render", "resolved", "said", "terms", "told", "written"]
