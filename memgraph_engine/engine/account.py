"""The budgets of one call of the API, and the scope's account that it is written to."""

from collections.abc import Iterator
from contextlib import contextmanager

from memgraph_engine.cost import NOTHING, Budget, Cost
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import spending
from memgraph_engine.llm.spent import Gauge, Meter, Spent, budget_of, charge, check
from memgraph_engine.model.scope import Scope


class Account:
    """Holds the meters of a call: its own budget, and where there is one the scope's of the day."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        settings = engine.settings.llm
        self._engine, self._scope = engine, scope
        self._own = Meter(budget_of(settings.call_budget), name="the budget of this call")
        self._day = budget_of(settings.day_budget)
        self._settled = False
        self.meters: tuple[Gauge, ...] = ()
        if engine.roles.has_any:
            limited = self._day != Budget()
            self.meters = (self._own, DayMeter(engine, scope, self._day)) if limited else (self._own,)

    def settle(self) -> None:
        """Write down, once, what the call cost, abandoned answers included; a day's meter has charged it already."""
        cost, done, self._settled = self._own.spent, self._settled, True
        if cost.calls and not done:
            charged = self._own.charged if self._day == Budget() else NOTHING
            spending.add(self._engine.db, self._scope.name, self._engine.now(), cost, charged)


@contextmanager
def on_account(engine: Engine, scope: Scope) -> Iterator[Spent]:
    """Begin a call whose budgets are those of the settings; what it costs is written down however it ends."""
    account = Account(engine, scope)
    spent = Spent(account.meters)
    try:
        yield spent
    finally:
        account.settle()


class DayMeter:
    """Keeps a scope's budget of the day, in the graph: calls of several processes do not pass it together.

    A process that dies during a call leaves its estimate charged, since the call may be on the bill.
    """

    def __init__(self, engine: Engine, scope: Scope, budget: Budget) -> None:
        self._engine, self._scope, self._budget = engine, scope, budget

    @contextmanager
    def reserved(self, estimate: Cost) -> Iterator[list[Cost]]:
        """Charge the estimate while a call runs, and what it cost afterwards; raises BudgetSpent."""
        db, at = self._engine.db, self._engine.now()
        spending.reserve(db, self._scope.name, at, estimate, self._check)
        bill: list[Cost] = []
        try:
            yield bill
        finally:
            charged = sum((charge(cost, estimate) for cost in bill), NOTHING)
            spending.settle(db, self._scope.name, at, estimate, charged)

    def _check(self, spent: Cost, estimate: Cost) -> None:
        check(self._budget, spent, estimate, f"today's budget of {self._scope}")
