"""Profiles: what decisions told of somebody, as far as the notes that say it can be read."""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.rows import moment
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.memory import NEVER, TRUE_ONCE
from memgraph_engine.model.profile import Delta, Profile, Stated, folded, is_gone


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
        since = moment(row["at"] if row["said_at"] is None else row["said_at"])
        replaced = [] if row["until"] is None else [(moment(row["until"]), "")]
        sources = (row["source"],) if row["source"] else ()
        for delta in deltas:
            changed = (
                (moment(change["at"]), change["note"])
                for change in row["changes"]
                if is_gone(delta, change["former"] or "", tells[change["note"]])
            )
            until, by = min((*replaced, *(end for end in changed if end[0] >= since)), default=(NEVER, ""))
            parts = f"{delta.name}: {delta.value}", "", delta.name, delta.value
            end = None if until == NEVER else max(until, since), by, (delta.name,), row["decision"]
            yield Stated(Fact(*parts, subject, since, row["note"], sources, *end), delta.ends)
