"""The budgets of one call of the API, and the scope's account that it is written to."""

from collections.abc import Callable
from datetime import datetime

from memgraph_engine.graph import spending
from memgraph_engine.graph.database import Database
from memgraph_engine.llm import Meter, Roles
from memgraph_engine.llm.meter import budget_of
from memgraph_engine.model.cost import Cost
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import LlmSettings, RolesSettings


class Account:
    """Holds the meters of a call: its own budget, and what is left of the scope's day.

    Processes that write to one scope at the same time each see the day's account as it was when their call began.
    """

    def __init__(
        self, db: Database, scope: Scope, settings: LlmSettings, now: Callable[[], datetime], roles: Roles
    ) -> None:
        self._db, self._scope, self._now = db, scope, now
        self.meters: tuple[Meter, ...] = ()
        if any(roles.has(role) for role in RolesSettings.model_fields):
            before = spending.charged_on(db, scope.name, now())
            self.meters = (
                Meter(budget_of(settings.call_budget), name="the budget of this call"),
                Meter(budget_of(settings.day_budget), before, name=f"today's budget of {scope}"),
            )

    def settle(self, cost: Cost) -> None:
        """Write down what the call cost."""
        if cost.calls:
            spending.add(self._db, self._scope.name, self._now(), cost, self.meters[0].charged)
