"""Profiles: what decisions told of somebody, as far as the notes that say it can be read."""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.rows import moment
from memgraph_engine.model.memory import NEVER, TRUE_ONCE
from memgraph_engine.model.profile import Attribute, Delta, Profile, Stated, folded, is_gone


def find(tx: Runner, scope: str, subject: str, known_at: datetime | None = None) -> Profile:
    """Return the profile of a subject, as the memory knows it now, or as it knew it then."""
    given = {"statuses": TRUE_ONCE, "known_at": known_at or NEVER, **({"alive": known_at} if known_at else {})}
    return folded(subject, list(_stated(tx, scope, subject.casefold(), given)))


def _stated(tx: Runner, scope: str, subject: str, given: dict[str, object]) -> Iterator[Stated]:
    every = tx.run("profile/told", scope=scope, subject=subject, **given)
    rows = [(row, [Delta(**one) for one in json.loads(row["delta"])]) for row in every]
    tells = defaultdict[str, set[str]](set)
    for row, deltas in rows:
        tells[row["note"]].update(one.name for one in deltas)
    for row, deltas in rows:
        at = moment(row["at"])
        since = at if row["said_at"] is None else moment(row["said_at"])
        replaced = NEVER if row["until"] is None else moment(row["until"])
        for delta in deltas:
            changed = [
                moment(change["at"])
                for change in row["changes"]
                if is_gone(delta, change["former"] or "", tells[change["note"]])
            ]
            until = max(min((replaced, *(at for at in changed if at >= since))), since)
            told = Attribute(delta.name, delta.value, since, until, at, row["decision"], row["source"], row["note"])
            yield Stated(told, delta.ends)
