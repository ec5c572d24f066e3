"""How good rankings of sources are by the turns that answer questions, as benches tell it."""

import math
from collections.abc import Sequence

from memgraph_engine.evaluation.ranking import hit_at, recall_at

CUTS = (5, 10, 20)


def score(found: Sequence[str], evidence: Sequence[str]) -> dict[str, float]:
    """Score the source ids found, in order: R@5, R@10, R@20, H@10 and nDCG@10."""
    result = {f"R@{k}": recall_at(k, found, evidence) for k in CUTS}
    result["H@10"] = hit_at(10, found, evidence)
    wanted = set(evidence)
    gain = sum(1 / math.log2(place + 2) for place, i in enumerate(list(dict.fromkeys(found))[:10]) if i in wanted)
    best = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    result["nDCG@10"] = 100 * gain / best
    return result


def mean(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over the questions."""
    return {name: sum(one[name] for one in scores) / len(scores) for name in scores[0]} if scores else {}
