"""What comes over from other memories (docs/import.md): mem0's memories, the items of LangGraph's stores, old chats.

Each call reads files, which the other program wrote, and adds what they hold to the memories of their users. Nothing of
that program is needed, and nothing that could run code is read. What is there already is recognised, so a call that was
cut off can be made again.
"""

from memgraph_engine.importers.jsonl import import_jsonl
from memgraph_engine.importers.langgraph import import_langgraph
from memgraph_engine.importers.mem0 import import_mem0

__all__ = ["import_jsonl", "import_langgraph", "import_mem0"]
