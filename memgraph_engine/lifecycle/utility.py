"""How useful a note has proved to a reader: its utility, from 0 to 100 (MemoryArchitect, section II.D).

The paper tells it by examples and gives no formula. These numbers give its examples (section III.B).
"""

from dataclasses import replace
from datetime import datetime, timedelta

from memgraph_engine.lifecycle.policies import Policy
from memgraph_engine.model.memory import Note
from memgraph_engine.model.usage import Outcome, Usage

MOST, LOW = 100, 20
"""The greatest, and that below which a note is of little use."""
START, _START_OF_MESSAGE = 50, 30
_PROVEN, _DOUBTFUL = 70, 40
_USED, _USED_AGAIN = 10, 5  # below 70, and from there on
_UNUSED, _UNUSED_AGAIN = -5, -2  # from 40, and below
_CONTRADICTED = -30
_LAPSE = timedelta(days=30)  # without being shown, then one is lost


def fresh(policy: Policy, note: Note) -> Usage:
    """Return the usage of a note that was never shown: it starts as its class says, else by what it tells."""
    message = any(source.kind == "message" for source in note.sources)
    return started(policy, note.created_at, message=message)


def started(policy: Policy, created: datetime, *, message: bool) -> Usage:
    """Return the usage of what was created then, and is told by a message or not."""
    usual = _START_OF_MESSAGE if message else START
    return Usage(usual if policy.start is None else policy.start, created)


def current(usage: Usage, now: datetime) -> int:
    """Return the utility of now: one less for every 30 days without being shown.

    >>> from datetime import UTC
    >>> current(Usage(50, datetime(2024, 1, 1, tzinfo=UTC)), datetime(2024, 3, 5, tzinfo=UTC))
    48
    """
    return max(usage.utility - max(now - usage.scored_at, timedelta()) // _LAPSE, 0)


def lapsed(usage: Usage, now: datetime) -> Usage:
    """Return the usage with the utility of now."""
    return replace(usage, utility=current(usage, now), scored_at=max(now, usage.scored_at))


def shown(usage: Usage, at: datetime, times: int = 1) -> Usage:
    """Return the usage of a note that was shown so many times, the last time then."""
    last = max(at, usage.last_shown or at)
    return replace(lapsed(usage, at), shown=usage.shown + times, last_shown=last)


def judged(usage: Usage, outcome: Outcome, at: datetime) -> Usage:
    """Return the usage of a note that an answer used or contradicted, or that was shown in vain for it.

    >>> from datetime import UTC
    >>> at = datetime(2024, 1, 1, tzinfo=UTC)
    >>> [judged(Usage(utility, at), "used", at).utility for utility in (50, 69, 70, 98)]
    [60, 79, 75, 100]
    """
    usage = lapsed(usage, at)
    utility = usage.utility
    change = {
        "used": _USED if utility < _PROVEN else _USED_AGAIN,
        "unused": _UNUSED if utility >= _DOUBTFUL else _UNUSED_AGAIN,
        "contradicted": _CONTRADICTED,
        "shown": 0,
    }[outcome]
    changed = replace(usage, utility=min(max(utility + change, 0), MOST))
    return replace(changed, used=usage.used + 1, last_used=at) if outcome == "used" else changed
