"""Leaves: which notes that follow each other belong together (LightMem, section 3.3, without a model)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.blocks.linkage import normalised
from memgraph_engine.model.block import LONGEST


@dataclass(frozen=True, slots=True)
class Placed:
    """A note as the tree sees it: where it stands, and which version it is."""

    id: str
    session: str
    seq: int
    at: int
    """When it was said, or told, in milliseconds since 1970."""
    revision: int


def units(notes: Sequence[Placed]) -> list[list[int]]:
    """Return the units, by the places of their notes in the list: a session's in order, at most 40 in each.

    Notes without a session follow each other by time.

    >>> talk = [Placed(id, "s", seq, 0, 1) for seq, id in enumerate("abc")]
    >>> units([talk[2], Placed("d", "", 0, 5, 1), talk[0], talk[1]])
    [[1], [2, 3, 0]]
    """
    order = sorted(range(len(notes)), key=lambda at: _key(notes[at]))
    found = []
    for _, some in groupby(order, key=lambda at: notes[at].session):
        session = list(some)
        parts = -(-len(session) // LONGEST)
        cuts = [len(session) * part // parts for part in range(parts + 1)]
        found += [session[start:end] for start, end in pairwise(cuts)]
    return found


def _key(note: Placed) -> tuple[str, int, int, str]:
    return (note.session, note.seq if note.session else 0, note.at, note.id)


def segments(vectors: NDArray[np.floating], most: int = 5) -> list[int]:
    """Cut a unit's notes (n, d), in their order, into at most `most` runs; return where each begins, and n.

    The two neighbouring runs whose members are nearest to each other on the mean are joined until so few are left, and
    then as long as they are nearer than half of the neighbouring notes are.

    >>> segments(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]]), most=2)
    [0, 2, 4]
    >>> segments(np.zeros((0, 2)))
    [0]
    """
    unit = normalised(vectors)
    starts, sums = list(range(len(unit))), [*unit]
    sizes = [1] * len(unit)
    far = [1 - float(a @ b) for a, b in pairwise(sums)]
    usual = float(np.median(far)) if far else 0.0
    while far and (len(starts) > most or min(far) < usual):
        at = far.index(min(far))
        sums[at] = sums[at] + sums.pop(at + 1)
        sizes[at] += sizes.pop(at + 1)
        del starts[at + 1], far[at]
        for left in (at - 1, at):
            if 0 <= left < len(far):
                far[left] = 1 - float(sums[left] @ sums[left + 1]) / (sizes[left] * sizes[left + 1])
    return [*starts, len(unit)]
