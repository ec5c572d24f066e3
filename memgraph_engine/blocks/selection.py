"""Branch-aware selection: the best blocks of which none holds another (LightMem, section 3.5)."""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Interval(Protocol):
    """A node of a scope's tree by its interval."""

    @property
    def scope(self) -> str:
        """The scope: a tree is of one."""

    @property
    def entered(self) -> int:
        """Its number in the order of a walk depth first."""

    @property
    def left(self) -> int:
        """The last number below it."""


One = TypeVar("One", bound=Interval)


def branch_aware(ranked: Iterable[One], k: int) -> list[One]:
    """Return the first k of ranked blocks that neither hold nor are held by one taken before them."""
    taken: list[One] = []
    for one in ranked:
        if len(taken) == k:
            break
        if not any(on_one_branch(one, other) for other in taken):
            taken.append(one)
    return taken


def on_one_branch(one: Interval, other: Interval) -> bool:
    """Tell whether one of two blocks holds the other, or both are the same."""
    first, second = (one, other) if one.entered <= other.entered else (other, one)
    return one.scope == other.scope and second.left <= first.left
