"""What chat models cost one call of the API, the budgets that this keeps, and where the engine did without them."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Protocol

from memgraph_engine.cost import NOTHING, Budget, Cost
from memgraph_engine.errors import BudgetSpent, ModelError
from memgraph_engine.forks import begun
from memgraph_engine.settings import BudgetSettings


def budget_of(settings: BudgetSettings) -> Budget:
    """Return the budget that the settings name, where 0 is no limit.

    >>> budget_of(BudgetSettings(calls=3))
    Budget(calls=3, tokens=None, money=None)
    """
    return Budget(settings.calls or None, settings.tokens or None, settings.money or None)


class Gauge(Protocol):
    """Anything that keeps a budget."""

    def reserved(self, estimate: Cost) -> AbstractContextManager[list[Cost]]:
        """Hold the estimate while a call runs; the caller puts what it cost into the list.

        Raises BudgetSpent if the call could pass the budget.
        """


class Meter:
    """Counts what is spent of a budget; `name` says whose it is.

    A call reserves its estimated cost before it is made, so that calls at the same time never pass the budget
    together.

    >>> meter = Meter(Budget(calls=1), name="this call's budget")
    >>> with meter.reserved(Cost(calls=1, output_tokens=100)) as bill:
    ...     bill.append(Cost(calls=1, output_tokens=20))
    >>> meter.spent.output_tokens
    20
    >>> with meter.reserved(Cost(calls=1)):
    ...     pass
    Traceback (most recent call last):
    memgraph_engine.errors.BudgetSpent: A request of about 0 tokens could pass this call's budget of 1 calls...
    """

    def __init__(self, budget: Budget, spent: Cost = NOTHING, name: str = "the budget") -> None:
        self._budget = budget
        self._name = name
        self.spent = NOTHING
        """What calls have cost since the meter was made."""
        self.charged = spent
        """What counts against the budget: what was spent before too, and the estimate where a cost is not known."""
        begun(self, Meter._begin)

    def _begin(self) -> None:
        self._lock = Lock()
        self._reserved: list[Cost] = []

    @contextmanager
    def reserved(self, estimate: Cost) -> Iterator[list[Cost]]:
        """See `Gauge.reserved`."""
        with self._lock:
            check(self._budget, sum(self._reserved, self.charged), estimate, self._name)
            self._reserved.append(estimate)
        bill: list[Cost] = []
        try:
            yield bill
        finally:
            with self._lock:
                self._reserved.remove(estimate)
                for cost in bill:
                    self.spent += cost
                    self.charged += charge(cost, estimate)


def check(budget: Budget, spent: Cost, estimate: Cost, name: str) -> None:
    """Raise BudgetSpent for a call that could pass a budget; `spent` counts what is reserved too."""
    if not budget.allows(spent, estimate):
        limits = [f"{budget.calls} calls"] if budget.calls is not None else []
        limits += [f"{budget.tokens} tokens"] if budget.tokens is not None else []
        limits += [f"{budget.money} dollars"] if budget.money is not None else []
        price = "whose price is not known " if budget.money is not None and estimate.money is None else ""
        used = "an unknown amount of" if spent.money is None else f"{spent.money:.4f}"
        raise BudgetSpent(
            f"A request of about {estimate.tokens} tokens {price}could pass {name} of {', '.join(limits)}; "
            f"{spent.calls} calls, {spent.tokens} tokens and {used} dollars are spent."
        )


@contextmanager
def reserved(meters: Sequence[Gauge], estimate: Cost) -> Iterator[list[Cost]]:
    """Hold the estimate of a call on every meter, or on none."""
    with ExitStack() as stack:
        bills = [stack.enter_context(meter.reserved(estimate)) for meter in meters]
        bill: list[Cost] = []
        try:
            yield bill
        finally:
            for each in bills:
                each.extend(bill)


def charge(cost: Cost, estimate: Cost) -> Cost:
    """Return what counts against a budget: a call whose answer was lost may have cost all that was expected."""
    if cost.money is not None:
        return cost
    counted = cost if cost.tokens else replace(estimate, seconds=cost.seconds)
    return replace(counted, money=estimate.money)


_log = logging.getLogger("memgraph_engine")


@dataclass
class Spent:
    """Adds up costs, and keeps the first reason of each kind of failure. `meters` are the budgets of the call.

    A reason may have words of a model or its provider, and these some of what it was asked about. So it is told to the
    caller and the log alone: what is stored of failures are their `kinds`.
    """

    meters: Sequence[Gauge] = ()
    cost: Cost = NOTHING
    beyond: bool = False
    """Whether there is no use in asking on: the budget is spent, or no model answers."""
    _failures: dict[tuple[str, type[ModelError]], ModelError] = field(default_factory=dict)

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """Why parts were done without a model, once for each part and kind of error."""
        return tuple(_told(part, str(error)) for (part, _), error in self._failures.items())

    @property
    def kinds(self) -> tuple[str, ...]:
        """The same in the engine's own words: which kind of failure it was, and whose."""
        return tuple(_told(part, f"{error.kind}.") for (part, _), error in self._failures.items())

    def failed(self, part: str, error: ModelError) -> None:
        """Note that a part was done without a model, and log it the first time."""
        self.cost += error.cost
        kind = part, type(error)
        if kind not in self._failures:
            self._failures[kind] = error
            _log.warning(_told(part, str(error)))


def _told(part: str, why: str) -> str:
    return f"{part} was done without a model: {why}"
