"""Which notes leave a memory that has a cap, and which of them one summary stands for (MLA-ARC, section 3.8.3).

The coldest leave first: those that were used least, are oldest, and tell least. What is told of one matter leaves
together. Nothing here looks at a clock or a graph.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import ceil, log

from memgraph_engine.arrays import NDArray, np

_BLOCK = 512  # rows of cosines that are worked out at once
_RAREST = 5  # terms of a note by which it is told how much it tells


@dataclass(frozen=True, slots=True)
class Cold:
    """A note that may leave: what it must have in common with others that it is summed with, and its place.

    `alike` is its class, whether that keeps it apart, its speaker, role, ends and origin: a summary has these too, and
    so must neither tell of what it sums where that must not be told, nor outlive it, nor put one's words into another's
    mouth. `said` orders notes by time.
    """

    alike: Hashable
    session: str
    said: tuple[float, int]


def temperatures(
    accesses: "NDArray[np.float64]",
    days: "NDArray[np.float64]",
    told: "NDArray[np.float64]",
    access_weight: float,
    age_weight: float,
    information_weight: float,
) -> "NDArray[np.float64]":
    """Return how warm notes are: w₁·accesses + w₂/(days + 1) + w₃·told.

    `days` are their ages; `told` is how much each tells (`information`). The paper has the first two terms, and gives
    neither their weights nor the unit of the age. With these alone it is nearly the age that decides, since most notes
    are never shown: a greeting of today would stay, and a wedding of last year would leave.

    >>> import numpy as np
    >>> temperatures(np.array([0.0, 3.0]), np.array([0.0, 9.0]), np.array([0.5, 0.5]), 1.0, 1.0, 0.0).tolist()
    [1.0, 3.1]
    """
    return access_weight * accesses + age_weight / (days + 1) + information_weight * told


def information(terms: Sequence[Sequence[str]]) -> list[float]:
    """Return how much each note tells, 0 to 1: the mean idf of its five rarest terms, over the greatest that may be.

    `terms` are those of each note; idf is taken among these notes. So length alone tells nothing, and what is said
    in common words tells little.

    >>> [round(told, 2) for told in information([["thank"], ["thank", "anna"], ["move", "porto", "anna"]])]
    [0.13, 0.26, 0.53]
    """
    every = [frozenset(some) for some in terms]
    counts = Counter(term for some in every for term in some)
    most = _RAREST * log(1 + len(every))
    return [sum(nlargest(_RAREST, (log(1 + len(every) / counts[term]) for term in some))) / most for some in every]


def clusters(notes: Sequence[Cold], vectors: "NDArray[np.float32]", similar: float, most: int) -> list[tuple[int, ...]]:
    """Return which notes are summed together, by their places, at most `most` in each; the coldest cluster first.

    `notes` come coldest first; `vectors` are theirs, of length 1, shape (notes, dimensions). Each note takes those with
    it that are nearest, from the cosine `similar` on. What is near to none is summed with the turns around it. A note
    that has nothing in common with any other is in no cluster: a summary in its place would spare nothing.

    >>> import numpy as np
    >>> sea, far = [1.0, 0.0], [0.0, 1.0]
    >>> notes = [Cold("ana", "s", (at, at)) for at in range(3)] + [Cold("bo", "s", (3, 3))]
    >>> clusters(notes, np.array([sea, far, sea, sea], dtype=np.float32), 0.6, 2)
    [(0, 2)]
    """
    found: list[list[int]] = []
    for rows in _by(range(len(notes)), [note.alike for note in notes]):
        near = list(_near(rows, vectors[rows], similar, most))
        rest = sorted(set(rows).difference(*near), key=lambda row: notes[row].said)
        around = list(_around(rest, [notes[row].session for row in rest], most))
        whole = [some for some in (*near, *around) if len(some) > 1]
        alone = [some[0] for some in around if len(some) == 1]
        for row in alone:  # at most one: it goes where there is room
            room = [some for some in whole if len(some) < most]
            if room:
                max(room, key=lambda some: float((vectors[some] @ vectors[row]).mean())).append(row)
        found += whole
    order = sorted(found, key=min)
    return [tuple(sorted(some, key=lambda row: notes[row].said)) for some in order]


def _by(rows: Sequence[int], keys: Sequence[Hashable]) -> Iterator[list[int]]:
    found: defaultdict[Hashable, list[int]] = defaultdict(list)
    for row, key in zip(rows, keys, strict=True):
        found[key].append(row)
    return iter(found.values())


def _near(rows: Sequence[int], vectors: "NDArray[np.float32]", similar: float, most: int) -> Iterator[list[int]]:
    """Yield each row that is still free with the free ones nearest to it, if there are any."""
    free = np.ones(len(rows), dtype=bool)
    for start in range(0, len(rows), _BLOCK):
        block = vectors[start : start + _BLOCK] @ vectors.T
        for at, cosines in enumerate(block, start):
            if not free[at]:
                continue
            beside = np.flatnonzero(free & (cosines >= similar))
            beside = beside[beside != at]
            if not beside.size:
                continue
            nearest = beside[np.argsort(-cosines[beside], kind="stable")[: most - 1]]
            free[at], free[nearest] = False, False
            yield [rows[at], *(rows[other] for other in nearest)]


def _around(rows: Sequence[int], sessions: Sequence[str], most: int) -> Iterator[list[int]]:
    """Yield rows, in the order of time, in equal parts session by session; those alone in theirs together."""
    alone: list[int] = []
    for some in _by(rows, sessions):
        if len(some) == 1:
            alone += some
        else:
            yield from _parts(some, most)
    yield from _parts(sorted(alone, key=rows.index), most)


def _parts(rows: Sequence[int], most: int) -> Iterator[list[int]]:
    parts = ceil(len(rows) / most)
    for part in range(parts):
        yield list(rows[part * len(rows) // parts : (part + 1) * len(rows) // parts])
