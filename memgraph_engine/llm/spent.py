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
    """Adds up costs, and keeps the first reason of each kind of failure. `meters` are the budgets of the call."""

    meters: Sequence[Gauge] = ()
    cost: Cost = NOTHING
    _reasons: dict[tuple[str, type[ModelError]], str] = field(default_factory=dict)

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """Why parts were done without a model, once for each part and kind of error."""
        return tuple(self._reasons.values())

    def failed(self, part: str, error: ModelError) -> None:
        """Note that a part was done without a model, and log it the first time."""
        self.cost += error.cost
        kind = part, type(error)
        if kind not in self._reasons:
            self._reasons[kind] = f"{part} was done without a model: {error}"
            _log.warning(self._reasons[kind])
