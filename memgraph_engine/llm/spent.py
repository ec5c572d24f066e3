"""What chat models cost one call of the API, and where the engine did without them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.errors import ModelError
from memgraph_engine.llm.meter import Gauge

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
