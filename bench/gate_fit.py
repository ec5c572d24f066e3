"""Fit what the gate's scores mean, on all conversations or on all but one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import log
from operator import attrgetter
from pathlib import Path

from bench.daily_fit import regression
from bench.gate_pairs import NOTHING, RESTATED, Array, Told, column, cut
from memgraph_engine.gate.calibration import FILE, Calibration, Monotone, Repetition
from memgraph_engine.resources import resource

MERGED = 0.075  # likelihood that a proposed turn is restated, above which it is joined by default; it is shipped as ...
REDUNDANCY = 0.7  # ... this one. Of all that are proposed only one is joined, and six of seven of these are right
_RIDGE = 1e-5
# share of the unrelated pairs that a mapped value admits → that value; at .5 notes are linked
RELATION = ((0.29, 0.1), (0.018, 0.5), (0.003, 0.7))


def fit(every: Sequence[Told]) -> Calibration:
    """Fit both on observations."""
    relation = fit_relation(every)
    return Calibration(fit_redundancy([(every, relation)]), relation)


def fit_relation(every: Sequence[Told]) -> Monotone:
    """Place the knots by the unrelated pairs."""
    return _through(column(every, NOTHING, attrgetter("relation")), RELATION)


def fit_redundancy(every: Sequence[tuple[Sequence[Told], Monotone]]) -> Repetition:
    """Fit by the turns that observations may join, with one embedder's map of relation or with those of several."""
    import numpy as np

    own = [(one, relation, one.may_join) for some, relation in every for one in some if one.home == one.other]
    features = np.concatenate([one.features(relation)[joins] for one, relation, joins in own])
    restated = np.concatenate([one.label[joins] == RESTATED for one, _, joins in own])
    bias, *weights = regression(features.tolist(), restated.tolist(), [1.0] * len(features), _RIDGE)
    bias += log(REDUNDANCY / (1 - REDUNDANCY)) - log(MERGED / (1 - MERGED))
    return Repetition(*(round(float(value), 3) for value in (bias, *weights)))


def _through(negatives: Array, points: Sequence[tuple[float, float]]) -> Monotone:
    knots = [(0.0, 0.0)]
    for share, value in points:
        place = round(cut(negatives, share), 3)
        knots.append((min(max(place, knots[-1][0] + 0.001), 0.99), value))
    return Monotone((*knots, (1.0, 1.0)))


def ship(repetition: Repetition, relations: Mapping[str, Monotone]) -> Path:
    """Write the file that the engine reads."""
    path = resource(*FILE)
    known = json.loads(path.read_text(encoding="utf-8"))["relation"] if path.is_file() else {}
    maps = known | {name: one.knots for name, one in relations.items()}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(maps[name])}" for name in sorted(maps))
    text = f'{{\n  "redundancy": {json.dumps(asdict(repetition))},\n  "relation": {{\n{lines}\n  }}\n}}\n'
    path.write_text(text, encoding="utf-8")
    return path
