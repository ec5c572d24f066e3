"""What chat models cost one call of the API, and why their part was done without them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from memgraph_engine.errors import ModelError
from memgraph_engine.llm.meter import Meter
from memgraph_engine.model.cost import NOTHING, Cost

_log = logging.getLogger("memgraph_engine")


@dataclass
class Spent:
    """Adds up costs, and keeps each reason of a failure once. `meters` are the budgets that the calls keep."""

    meters: Sequence[Meter] = ()
    cost: Cost = NOTHING
    fallbacks: dict[str, None] = field(default_factory=dict)

    def failed(self, part: str, error: ModelError) -> None:
        """Note that a part was done without a model, and log it the first time."""
        self.cost += error.cost
        reason = f"{part} was done without a model: {error}"
        if reason not in self.fallbacks:
            self.fallbacks[reason] = None
            _log.warning(reason)
