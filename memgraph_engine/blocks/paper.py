"""The paper's own linkage (LightMem, section 3.4): two blocks are merged, and what they tell together is merged on.

So the shape follows from what each merge tells, and merges come one after the other: for small memories, and to be held
against the default (`linkage.py`).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memgraph_engine.blocks.linkage import Vectors, normalised, rounded
from memgraph_engine.blocks.tree import Growing, Node, Tree, leaves
from memgraph_engine.blocks.units import Placed
from memgraph_engine.errors import SettingsError

Speak = Callable[[Sequence[Node], Vectors], NDArray[np.floating]]
"""Returns the vectors (n, d) of what blocks tell; it is given the means (n, d) of their notes' vectors as well."""


def paper_tree(
    scope: str, notes: Sequence[Placed], vectors: NDArray[np.floating], speak: Speak, *, most: int = 5, limit: int = 512
) -> Tree:
    """Build the tree of a scope's notes, with their vectors (n, d), by what its blocks tell.

    A distance is 1 - the cosine of two blocks' vectors. It may be smaller than one below it; a block's height is never.
    Raises SettingsError for more than `limit` leaves, before anything is asked.
    """
    unit = normalised(vectors)
    found = leaves(notes, unit, most)
    if len(found) > limit:
        raise SettingsError(
            f"{scope} has {len(found):,} leaves, more than {limit:,} (blocks.paper_leaves): with blocks.linkage = "
            '"paper" each merge waits for what the one before it tells. Set blocks.linkage to "average", or allow more.'
        )
    if not found:
        return Tree((), unit[:0])
    growing = Growing(scope, [[notes[at] for at in leaf] for leaf in found])
    sums = [unit[leaf].sum(axis=0) for leaf in found]
    spoken = normalised(speak([growing.node(at) for at in range(len(found))], normalised(np.stack(sums))))
    every, rows, at = [*spoken], spoken.copy(), [*range(len(found))]  # `at`: which cluster stands in a row
    far = rounded(1 - rows @ rows.T)
    np.fill_diagonal(far, np.inf)
    for _ in found[1:]:
        one, other = _nearest(far, [growing.ids[number] for number in at])
        made = growing.join(at[one], at[other], float(far[one, other]))
        sums.append(sums[at[one]] + sums[at[other]])
        rows[one] = normalised(speak([growing.node(made)], normalised(sums[made][None])))[0]
        every.append(rows[one].copy())
        at[one] = made
        gone = np.isinf(far[one])
        gone[[one, other]] = True
        far[one] = np.where(gone, np.inf, rounded(1 - rows @ rows[one]))
        far[:, one] = far[one]
        far[other] = far[:, other] = np.inf
    return growing.tree(np.stack(every))


def _nearest(far: Vectors, ids: Sequence[str]) -> tuple[int, int]:
    """Return the rows of the two that are nearest to each other; of several pairs that of the smallest ids."""
    rank = np.argsort(np.argsort(ids))
    pairs = np.argwhere(far == far.min())
    ranks = np.sort(rank[pairs], axis=1)
    one, other = pairs[np.lexsort((ranks[:, 1], ranks[:, 0]))[0]].tolist()
    return one, other
