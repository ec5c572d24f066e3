"""The blocks job of one memory with the parts that the settings name."""

from memgraph_engine.blocks.rebuild import Progress, rebuild
from memgraph_engine.blocks.schema import schema
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.model.block import BlockRun
from memgraph_engine.model.scope import Scope


def rebuild_blocks(engine: Engine, scope: Scope, progress: Progress = lambda _phase: None) -> BlockRun:
    """Run the blocks job over a memory; `progress` is told each phase, and ends the job by raising."""
    settings = engine.settings.blocks
    most = schema(settings.schema_file).most
    given = {"most": most, "exact": settings.exact}
    return rebuild(engine.db, scope.name, engine.now(), engine.embedder.dimensions, **given, progress=progress)
