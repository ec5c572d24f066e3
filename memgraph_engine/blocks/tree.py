"""The tree: leaves of notes that belong together, inner nodes of two, ids by content, intervals (LightMem, 3.3–3.5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.blocks.linkage import Vectors, average_linkage, normalised, rounded
from memgraph_engine.errors import SettingsError
from memgraph_engine.model.block import LONGEST

Speak = Callable[[Sequence["Node"], Vectors], NDArray[np.floating]]
"""Returns the vectors (n, d) of what blocks tell; it is given the means (n, d) of their notes' vectors as well."""

FARTHEST = 2.0
"""The largest distance that there is: all is merged."""
_BYTES = 16
_COMMON = 1e-6  # of a length of 1: what is left of equal vectors is rounding


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

    def place(at: int) -> tuple[str, int, int, str]:
        note = notes[at]
        return note.session, note.seq if note.session else 0, note.at, note.id

    found = []
    for _, some in groupby(sorted(range(len(notes)), key=place), key=lambda at: notes[at].session):
        session = list(some)
        parts = -(-len(session) // LONGEST)
        cuts = [len(session) * part // parts for part in range(parts + 1)]
        found += [session[start:end] for start, end in pairwise(cuts)]
    return found


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


@dataclass(frozen=True, slots=True)
class Node:
    """A block of the tree.

    Its id is a hash of what it holds: equal notes give equal ids, whenever and wherever the tree is built.
    `made_from` is one of the versions of these notes. It is an ancestor of what it holds by its interval: `entered` <=
    that of the other, and `left` >= that of the other. `height` is the mean distance of its two parts, 0 of a leaf.
    """

    id: str
    made_from: str
    first_at: int
    last_at: int
    parent: str | None = None
    own: tuple[str, ...] = ()
    """The ids of a leaf's notes; of an inner node none."""
    parts: tuple[str, ...] = ()
    """The ids of the two nodes that an inner one is made of."""
    level: int = 0
    leaves: int = 1
    notes: int = 0
    entered: int = -1
    left: int = -1
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class Tree:
    """All nodes from the root on, each before what it holds, and their vectors (n, d), in the same order.

    Where blocks are too far from each other to be merged, there are several roots, each before what it holds.
    """

    nodes: tuple[Node, ...]
    vectors: NDArray[np.float64]

    @property
    def roots(self) -> tuple[Node, ...]:
        """The nodes that no other holds."""
        return tuple(node for node in self.nodes if node.parent is None)


def tree(
    scope: str, notes: Sequence[Placed], vectors: NDArray[np.floating], *, most: int = 5, exact: int = 25_000
) -> Tree:
    """Build the tree of a scope's notes, with their vectors (n, d).

    A node's vector is the normalised mean of its notes' vectors.

    >>> a, b = (Placed(id, "s", seq, 0, 1) for seq, id in enumerate("ab"))
    >>> made = tree("acme/ana", [a, b], np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> [(node.notes, node.entered, node.left) for node in made.nodes]
    [(2, 0, 2), (1, 1, 1), (1, 2, 2)]
    """
    unit = normalised(vectors)
    found = leaves(notes, unit, most)
    if not found:
        return Tree((), unit[:0])
    growing = Growing([leaf_node(scope, [notes[at] for at in leaf.places]) for leaf in found])
    sums = np.stack([unit[leaf.places].sum(axis=0) for leaf in found])
    merges = average_linkage(_apart(sums, np.array([leaf.notes for leaf in growing.nodes])), exact=exact)
    every = np.concatenate([sums, np.zeros((len(merges.pairs), sums.shape[1]))])
    for (a, b), height in zip(merges.pairs.tolist(), merges.heights.tolist(), strict=True):
        every[growing.join(a, b, height)] = every[a] + every[b]
    return growing.tree(normalised(every))


class Leaf(NamedTuple):
    """A leaf before it is a node: the places of its notes in the list, and the unit that a model made it of, if any."""

    places: Sequence[int]
    source: str = ""


def _apart(sums: Vectors, sizes: NDArray[np.int64]) -> Vectors:
    """Return sums (n, d) of so many unit vectors each without what all have in common; 0 where that is all.

    Texts of one kind, as code, are near to each other by that alone: what is nearest to the middle of all would draw
    one leaf after the other into a single block.
    """
    own: Vectors = sums - sizes[:, None] * (sums.sum(axis=0) / sizes.sum())
    own[np.linalg.norm(own, axis=1) < _COMMON * sizes] = 0
    return own


def leaves(notes: Sequence[Placed], unit: NDArray[np.float64], most: int) -> list[Leaf]:
    """Return the leaves that are runs of notes, of which a session makes at most `most`."""
    return [
        Leaf(run[start:end])
        for run in units(notes)
        for starts in [segments(unit[run], most)]
        for start, end in pairwise(starts)
    ]


class Growing:
    """A tree in the making: its leaves have the numbers from 0 on, and each that is made of two the next one.

    `nodes` are all, by number; before the tree is whole, they have no place there.
    """

    def __init__(self, leaves: Sequence[Node]) -> None:
        self.nodes = [*leaves]
        self._parts: dict[int, tuple[int, int]] = {}

    def tree(self, vectors: NDArray[np.float64]) -> Tree:
        """Return the tree, or all one after the other, with the vectors of all nodes, by number."""
        order, parents, entered = self._walk()
        nodes = []
        for at in order:
            node, parent = self.nodes[at], parents[at]
            left = entered[at] + 2 * node.leaves - 2  # a tree of n leaves has 2n - 1 nodes
            above = None if parent is None else self.nodes[parent].id
            nodes.append(replace(node, parent=above, entered=entered[at], left=left))
        return Tree(tuple(nodes), vectors[order])

    def join(self, a: int, b: int, height: float) -> int:
        """Make one of two that are so far from each other; return its number."""
        a, b = sorted((a, b), key=lambda at: (self.nodes[at].first_at, self.nodes[at].id))  # the older part first
        one, other = self.nodes[a], self.nodes[b]
        made = Node(
            hashed(*sorted((one.id, other.id))),
            hashed(*sorted((one.made_from, other.made_from))),
            first_at=min(one.first_at, other.first_at),
            last_at=max(one.last_at, other.last_at),
            parts=(one.id, other.id),
            level=1 + max(one.level, other.level),
            leaves=one.leaves + other.leaves,
            notes=one.notes + other.notes,
            # where parts were linked by themselves, or by what they tell, a merge may come out nearer than one below it
            height=max(height, one.height, other.height),
        )
        self._parts[len(self.nodes)] = a, b
        self.nodes.append(made)
        return len(self.nodes) - 1

    def _walk(self) -> tuple[list[int], dict[int, int | None], dict[int, int]]:
        """Go depth first: a node is entered with the next number, and left with the last one given below it.

        Without recursion: a chain of merges may be deeper than Python's stack.
        """
        order: list[int] = []
        inside = {part for parts in self._parts.values() for part in parts}
        roots = [at for at in range(len(self.nodes)) if at not in inside]
        waiting = sorted(roots, key=lambda at: (self.nodes[at].first_at, self.nodes[at].id), reverse=True)
        parents: dict[int, int | None] = dict.fromkeys(roots)
        while waiting:
            at = waiting.pop()
            order.append(at)
            if parts := self._parts.get(at):
                parents |= dict.fromkeys(parts, at)
                waiting += reversed(parts)
        return order, parents, {at: number for number, at in enumerate(order)}


def leaf_node(scope: str, notes: Sequence[Placed], source: str = "") -> Node:
    """Return the node of a leaf; one that a model made is made from all notes of its `source`."""
    ids, times = tuple(note.id for note in notes), [note.at for note in notes]
    made = hashed(*([source] if source else []), *sorted(f"{note.id} {note.revision}" for note in notes))
    return Node(hashed(scope, *sorted(ids)), made, min(times), max(times), own=ids, notes=len(notes))


def hashed(*parts: str) -> str:
    """Return a hash of texts in their order."""
    return blake2b("\0".join(parts).encode(), digest_size=_BYTES).hexdigest()


def paper_tree(
    scope: str,
    notes: Sequence[Placed],
    vectors: NDArray[np.floating],
    speak: Speak,
    *,
    made: Callable[[], list[Leaf]] | None = None,
    most: int = 5,
    limit: int = 512,
    farthest: float = FARTHEST,
) -> Tree:
    """Build the tree of a scope's notes, with their vectors (n, d), by what its blocks tell.

    Its leaves are those that a model `made`, without one the runs of `leaves`.

    A distance is 1 - the cosine of two blocks' vectors. It may be smaller than one below it; a block's height is never.
    Raises SettingsError for more than `limit` runs, before anything is asked.
    """
    unit = normalised(vectors)
    found = leaves(notes, unit, most)
    if len(found) > limit:
        raise SettingsError(
            f"{scope} has {len(found):,} leaves, more than {limit:,} (blocks.paper_leaves): with blocks.linkage = "
            '"paper" each merge waits for what the one before it tells. Set blocks.linkage to "average", or allow more.'
        )
    found = made() if made else found
    if not found:
        return Tree((), unit[:0])
    growing = Growing([leaf_node(scope, [notes[at] for at in leaf.places], leaf.source) for leaf in found])
    sums = [unit[leaf.places].sum(axis=0) for leaf in found]
    spoken = normalised(speak(growing.nodes[:], normalised(np.stack(sums))))
    every, rows, at = [*spoken], spoken.copy(), [*range(len(found))]  # `at`: which cluster stands in a row
    far = rounded(1 - rows @ rows.T)
    np.fill_diagonal(far, np.inf)
    for _ in found[1:]:
        if far.min() > farthest:
            break
        one, other = _nearest_pair(far, [growing.nodes[number].id for number in at])
        joined = growing.join(at[one], at[other], float(far[one, other]))
        sums.append(sums[at[one]] + sums[at[other]])
        rows[one] = normalised(speak([growing.nodes[joined]], normalised(sums[joined][None])))[0]
        every.append(rows[one].copy())
        at[one] = joined
        gone = np.isinf(far[one])
        gone[[one, other]] = True
        far[one] = np.where(gone, np.inf, rounded(1 - rows @ rows[one]))
        far[:, one] = far[one]
        far[other] = far[:, other] = np.inf
    return growing.tree(np.stack(every))


def _nearest_pair(far: Vectors, ids: Sequence[str]) -> tuple[int, int]:
    """Return the rows of the two that are nearest to each other; of several pairs that of the smallest ids."""
    rank = np.argsort(np.argsort(ids))
    pairs = np.argwhere(far == far.min())
    ranks = np.sort(rank[pairs], axis=1)
    one, other = pairs[np.lexsort((ranks[:, 1], ranks[:, 0]))[0]].tolist()
    return one, other
