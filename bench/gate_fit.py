"""Fit the calibration maps of the gate, on all conversations or on all but one."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.gate_pairs import NOTHING, RELATED, Array, Told, column, cut
from memgraph_engine.gate.calibration import FILE, Monotone
from memgraph_engine.resources import resource

# share of the false positives that a mapped value admits → that value. At .7 notes are merged by default, if nothing
# differs: what differs, and that only one note is joined, keeps out four fifths of the 2 %. At .5 they are linked.
REDUNDANCY = ((0.5, 0.03), (0.05, 0.1), (0.02, 0.7))
RELATION = ((0.5, 0.1), (0.05, 0.5), (0.01, 0.7))


def fit_redundancy(every: Sequence[Told]) -> Monotone:
    """Place the knots by the related pairs."""
    return _through(column(every, RELATED, "raw"), REDUNDANCY)


def fit_relation(every: Sequence[Told]) -> Monotone:
    """Place the knots by the unrelated pairs."""
    return _through(column(every, NOTHING, "relation"), RELATION)


def _through(negatives: Array, points: Sequence[tuple[float, float]]) -> Monotone:
    knots = [(0.0, 0.0)]
    for share, value in points:
        place = round(cut(negatives, share), 3)
        knots.append((min(max(place, knots[-1][0] + 0.001), 0.99), value))
    return Monotone((*knots, (1.0, 1.0)))


def ship(redundancy: Sequence[Monotone], relations: Mapping[str, Monotone]) -> Path:
    """Write the file that the engine reads; of several redundancy maps the most reserved."""
    most = max(redundancy, key=lambda one: one.knots[-2][0])
    path = resource(*FILE)
    known = json.loads(path.read_text(encoding="utf-8"))["relation"] if path.is_file() else {}
    maps = known | {name: one.knots for name, one in relations.items()}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(maps[name])}" for name in sorted(maps))
    text = f'{{\n  "redundancy": {json.dumps(most.knots)},\n  "relation": {{\n{lines}\n  }}\n}}\n'
    path.write_text(text, encoding="utf-8")
    return path
