"""Topics keep their names: which new community goes on under which old id."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PART = 0.25  # of an old topic: what goes elsewhere below that is a few moves, no split
_MOST = 0.5  # of an old topic: what gives that much to another has gone into it


@dataclass(frozen=True, slots=True)
class Matching:
    """The id of each community; old topics that were split, and those that were merged.

    `splits` are from an old id to the ids that took a part of it, `merges` from an id to the old ones that it is
    made of, largest part first.
    """

    ids: tuple[str, ...]
    splits: Mapping[str, tuple[str, ...]]
    merges: Mapping[str, tuple[str, ...]]


def match(before: Sequence[str | None], after: Sequence[int], fresh: Sequence[str]) -> Matching:
    """Match by members: the pair with the largest overlap first, each old id and each community once.

    `before` and `after` are the old topic (None for none) and the new community (-1 for none) of each keyword;
    `fresh` holds an id for each community, used where none goes on. Equal overlaps go by the smaller id.

    >>> match(["t", "t", "t", "u", None], [1, 1, 0, 0, 0], ["x", "y"]).ids
    ('u', 't')
    """
    overlap = Counter((old, new) for old, new in zip(before, after, strict=True) if old is not None and new >= 0)
    ids, used = dict(enumerate(fresh)), set[str]()
    taken = set[int]()
    for (old, new), _ in sorted(overlap.items(), key=lambda pair: (-pair[1], pair[0])):
        if old not in used and new not in taken:
            ids[new] = old
            used.add(old)
            taken.add(new)
    sizes = Counter(old for old in before if old is not None)
    parts: dict[str, list[str]] = {}
    origins: dict[str, list[str]] = {}
    for (old, new), common in sorted(overlap.items(), key=lambda pair: (-pair[1], pair[0])):
        if common >= _PART * sizes[old]:
            parts.setdefault(old, []).append(ids[new])
        if common >= _MOST * sizes[old]:
            origins.setdefault(ids[new], []).append(old)
    return Matching(
        tuple(ids[community] for community in range(len(fresh))),
        {old: tuple(news) for old, news in parts.items() if len(news) > 1},
        {new: tuple(olds) for new, olds in origins.items() if len(olds) > 1},
    )
