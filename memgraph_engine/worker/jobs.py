"""The table of a worker's jobs, in the order in which they are done."""

from typing import Any

from memgraph_engine.blocks.rebuild import Blocks
from memgraph_engine.claims.consolidation import Claims
from memgraph_engine.engine.passes import Pass
from memgraph_engine.topics.rebuild import Topics
from memgraph_engine.writing.adding import Construction
from memgraph_engine.writing.erasure import Unfinished
from memgraph_engine.writing.eviction import Eviction
from memgraph_engine.writing.evolution import Evolution
from memgraph_engine.writing.sweep import Sweep
from memgraph_engine.writing.unused import Unused

# Evolution is last: by what is constructed and stays, and by the topics of now
JOBS: tuple[type[Pass[Any]], ...] = (
    Unfinished,
    Sweep,
    Construction,
    Eviction,
    Unused,
    Topics,
    Blocks,
    Claims,
    Evolution,
)
