"""Who does the pieces that a call with much to write is cut into: this process, unless `fleet` hands them to others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from memgraph_engine.model.item import Put
from memgraph_engine.model.memory import Source
from memgraph_engine.model.scope import Scope

T = TypeVar("T")
E = TypeVar("E")

Given: TypeAlias = Source | Mapping[str, object] | Put
"""What is to be written, as far as it is read: a source, a message, an item."""


class Spread(Generic[E]):
    """Does each piece at once, in this process, with an engine."""

    def hand(
        self,
        engine: E,
        _scope: Scope,
        _given: Sequence[Given],
        work: Callable[[E], Iterable[T]],
        done: Callable[[T], object],
    ) -> None:
        """Let `work` write what is given, of one scope; `done` hears each result. Pieces of a scope keep their order.

        Who does it elsewhere does it later, and with an engine of its own.
        """
        for one in work(engine):
            done(one)

    def settle(self) -> None:
        """Return when all that was handed out is written and told: what is read then, stands."""
