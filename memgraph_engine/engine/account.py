"""The budgets of one call of the API, and the scope's account that it is written to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from memgraph_engine.cost import NOTHING, Budget, Cost
from memgraph_engine.graph import spending
from memgraph_engine.graph.database import Database
from memgraph_engine.llm import Gauge, Meter, Roles
from memgraph_engine.llm.meter import budget_of, charge, check
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import LlmSettings, RolesSettings


class Account:
    """Holds the meters of a call: its own budget, and where there is one the scope's of the day."""

    def __init__(
        self, db: Database, scope: Scope, settings: LlmSettings, now: Callable[[], datetime], roles: Roles
    ) -> None:
        self._db, self._scope, self._now = db, scope, now
        self._own = Meter(budget_of(settings.call_budget), name="the budget of this call")
        self._day = budget_of(settings.day_budget)
        self.meters: tuple[Gauge, ...] = ()
        if any(roles.has(role) for role in RolesSettings.model_fields):
            limited = self._day != Budget()
            self.meters = (self._own, DayMeter(db, scope, self._day, now)) if limited else (self._own,)

    @property
    def spent(self) -> Cost:
        """What the call has cost so far, abandoned answers included."""
        return self._own.spent

    def settle(self, cost: Cost) -> None:
        """Write down what the call cost; a day's meter has charged it already."""
        if cost.calls:
            charged = self._own.charged if self._day == Budget() else NOTHING
            spending.add(self._db, self._scope.name, self._now(), cost, charged)


class DayMeter:
    """Keeps a scope's budget of the day, in the graph: calls of several processes do not pass it together.

    A process that dies during a call leaves its estimate charged, since the call may be on the bill.
    """

    def __init__(self, db: Database, scope: Scope, budget: Budget, now: Callable[[], datetime]) -> None:
        self._db, self._scope, self._budget, self._now = db, scope, budget, now

    @contextmanager
    def reserved(self, estimate: Cost) -> Iterator[list[Cost]]:
        """Charge the estimate while a call runs, and what it cost afterwards; raises BudgetSpent."""
        at = self._now()
        spending.reserve(self._db, self._scope.name, at, estimate, self._check)
        bill: list[Cost] = []
        try:
            yield bill
        finally:
            charged = sum((charge(cost, estimate) for cost in bill), NOTHING)
            spending.settle(self._db, self._scope.name, at, estimate, charged)

    def _check(self, spent: Cost, estimate: Cost) -> None:
        check(self._budget, spent, estimate, f"today's budget of {self._scope}")
