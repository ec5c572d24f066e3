"""Profiles: what decisions told of somebody, as far as the notes that say it can be read."""

import json
from collections.abc import Iterator
from datetime import datetime

from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.rows import moment
from memgraph_engine.language.terms import spoken
from memgraph_engine.model.memory import NEVER, TRUE_ONCE
from memgraph_engine.model.profile import Attribute, Delta, Profile, Stated, folded


def find(tx: Runner, scope: str, subject: str, known_at: datetime | None = None) -> Profile:
    """Return the profile of a subject, as the memory knows it now, or as it knew it then."""
    given = {"statuses": TRUE_ONCE, "known_at": known_at or NEVER, **({"alive": known_at} if known_at else {})}
    return folded(subject, list(_stated(tx, scope, subject.casefold(), given)))


def _stated(tx: Runner, scope: str, subject: str, given: dict[str, object]) -> Iterator[Stated]:
    for row in tx.run("profile/told", scope=scope, subject=subject, **given):
        at = moment(row["at"])
        since = at if row["said_at"] is None else moment(row["said_at"])
        replaced = NEVER if row["until"] is None else moment(row["until"])
        for one in json.loads(row["delta"]):
            delta = Delta(**one)
            changed = [moment(change["at"]) for change in row["changes"] if _of(delta.value, change["former"])]
            until = max(min((replaced, *(at for at in changed if at >= since))), since)
            told = Attribute(delta.name, delta.value, since, until, at, row["decision"], row["source"], row["note"])
            yield Stated(told, delta.ends)


def _of(value: str, former: str | None) -> bool:
    """Tell whether a value is among the words that are true no more: all of a note, where none are named."""
    if former is None:
        return True
    known, gone = ({*spoken(one)} for one in (value, former))
    return known <= gone or gone <= known
