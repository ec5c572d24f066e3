"""The blocks job of one memory with the parts that the settings name; what chat models cost is written down."""

from memgraph_engine.blocks.describing import Describer
from memgraph_engine.blocks.rebuild import Progress, rebuild
from memgraph_engine.blocks.schema import schema
from memgraph_engine.engine.account import on_account
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.model.block import BlockRun
from memgraph_engine.model.scope import Scope


def rebuild_blocks(engine: Engine, scope: Scope, progress: Progress = lambda _phase: None) -> BlockRun:
    """Run the blocks job over a memory; `progress` is told each phase, and ends the job by raising."""
    settings = engine.settings.blocks
    shape = schema(settings.schema_file)
    paper_leaves = settings.paper_leaves if settings.linkage == "paper" else 0
    given = {"most": shape.most, "exact": settings.exact, "paper_leaves": paper_leaves}
    now, dimensions = engine.now(), engine.embedder.dimensions
    with on_account(engine, scope) as spent:
        describer = Describer(engine, scope.name, shape, spent)
        return rebuild(engine.db, scope.name, now, dimensions, **given, describer=describer, progress=progress)
