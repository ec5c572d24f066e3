"""Keep a memory's history within its budget: former versions, decisions, runs and retrievals go when too old.

What can be read, and what notes still need, never goes.
"""

from datetime import datetime, timedelta

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import holds, pruning
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import LifecycleSettings, Settings


def prunes(settings: Settings) -> bool:
    """Tell whether history is kept for a time only."""
    return any(_days(settings.lifecycle))


def prune(engine: Engine, scope: Scope, now: datetime) -> int:
    """Remove what is older than the budget; return how much. Nothing goes while anything of the memory is held."""
    settings, db = engine.settings.lifecycle, engine.db
    if not prunes(engine.settings):
        return 0
    held = bool(holds.every(db, scope.name))
    past, decided, ran, retrieved = (None if held else _before(days, now) for days in _days(settings))
    budgets = (
        (pruning.decisions, decided),
        (pruning.past, past),
        (pruning.runs, ran),
        (pruning.retrievals, retrieved),
    )
    removed = sum(remove(db, scope.name, before) for remove, before in budgets if before)
    pruning.done(db, scope.name, now, decided)
    return removed


def _days(settings: LifecycleSettings) -> tuple[int, int, int, int]:
    return settings.past_days, settings.decisions_days, settings.runs_days, settings.retrievals_days


def _before(days: int, now: datetime) -> datetime | None:
    return now - timedelta(days=days) if days else None
