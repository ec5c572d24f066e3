"""How good a ranking of sources is, by the turns that answer a question; each measure is 0 to 100."""

import math
from collections.abc import Sequence

CUTS = (5, 10, 20)


def recall_at(k: int, found: Sequence[str], evidence: Sequence[str]) -> float:
    """Return the share of the evidence among the first `k` sources found (MemFly, section 4.1).

    >>> recall_at(2, ["D1:1", "D1:2", "D1:3"], ["D1:2", "D1:3"])
    50.0
    """
    wanted = set(evidence)
    return 100 * len(wanted & set(_first(found, k))) / len(wanted)


def hit_at(k: int, found: Sequence[str], evidence: Sequence[str]) -> float:
    """Return 100 if any of the evidence is among the first `k` sources found, else 0: the hit rate of one question.

    >>> hit_at(2, ["D1:1", "D1:2", "D1:3"], ["D1:2", "D1:3"])
    100.0
    """
    return 100.0 * bool(set(evidence) & set(_first(found, k)))


def score(found: Sequence[str], evidence: Sequence[str]) -> dict[str, float]:
    """Score the source ids found, in order: R@5, R@10, R@20, H@10 and nDCG@10."""
    result = {f"R@{k}": recall_at(k, found, evidence) for k in CUTS}
    result["H@10"] = hit_at(10, found, evidence)
    wanted = set(evidence)
    gain = sum(1 / math.log2(place + 2) for place, i in enumerate(_first(found, 10)) if i in wanted)
    best = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    result["nDCG@10"] = 100 * gain / best
    return result


def mean(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over the questions."""
    return {name: sum(one[name] for one in scores) / len(scores) for name in scores[0]} if scores else {}


def _first(found: Sequence[str], k: int) -> list[str]:
    return list(dict.fromkeys(found))[:k]
