"""Where in a conversation notes were said, so that a context tells neighbouring turns together."""

from collections.abc import Sequence
from typing import TypeVar

from memgraph_engine.answer.facts import Fact
from memgraph_engine.model.memory import Note, by_time

Place = tuple[str, int]
"""A session, and a turn in it; of a message outside any session its own id."""
T = TypeVar("T")


def places(note: Note) -> list[Place]:
    """Return the places of a note's sources; the passages of a long message are at one place."""
    return [(source.session or f"\0{source.id}", source.seq) for source in note.sources]


def before(place: Place) -> Place:
    """Return the place of the turn before."""
    return place[0], place[1] - 1


def together(told: Sequence[tuple[Fact, T]]) -> list[tuple[Fact, T]]:
    """Put neighbouring turns behind each other, as they were said, where the best of them stands.

    What is true no more stands behind what is true, and what was put right behind what put it right.

    >>> together([])
    []
    """
    groups: list[list[tuple[Fact, T]]] = []
    for one in told:
        around = {near for place in places(one[0].note) for near in (place, before(place), (place[0], place[1] + 1))}
        beside = [group for group in groups if any(around & {*places(fact.note)} for fact, _ in group)]
        joined = [*(each for group in beside for each in group), one]
        if beside:
            groups[groups.index(beside[0])] = joined
            groups = [group for group in groups if group not in beside[1:]]
        else:
            groups.append(joined)
    return [
        each
        for group in groups
        for each in sorted(group, key=lambda pair: (pair[0].past, pair[0].behind, *by_time(pair[0].sources[0])))
    ]
