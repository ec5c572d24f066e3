"""Claims, and the runs that find them (LightMem, section 3.6, algorithm 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.interface.results import Result
from memgraph_engine.language.claims import Kind
from memgraph_engine.trust import Trust

LEAST = 0.2
"""Confidence below which a claim is told no more, and removed by the next run."""
_FIRST, _MORE = 0.3, 0.15  # evidence of a note, and of each more of the same session
_DECAY = 0.95  # a run that read new notes, and found no new evidence
_SETTLED = 3  # notes from which a claim decays no more


@dataclass(frozen=True, slots=True, repr=False)
class Claim(Result):
    """Something that notes say in general: that `subject` is a kind of `object`, has it as a property, or implies it.

    `text` is how the first of the notes said it. `notes` are the ids of those that support it and can be read, the
    earliest first; they were said from `first_at` to `last_at`. `confidence` (0 to 1) follows from them. `score` (-1 to
    1) is how near it is to what was asked about, None where nothing was asked. It is `made_by` a chat model where no
    pattern finds it in any of its notes, else ''.

    What the tenant's users share has no notes and no times, only how many `users` make the claim now; `text` is as most
    of them say it, and each of them counts as a note would. `users` is 0 for a claim that notes support. It is trusted
    as far as the most trusted note that says it in these words is (`trust`); users share only what they say themselves.
    """

    brief = ("id", "text", "kind", "confidence", "users", "score")

    id: str
    scope: str
    kind: Kind
    text: str
    subject: str
    object: str
    confidence: float
    notes: tuple[str, ...] = ()
    first_at: datetime | None = None
    last_at: datetime | None = None
    users: int = 0
    score: float | None = None
    made_by: str = ""
    trust: Trust = "user"


@dataclass(frozen=True, slots=True, repr=False)
class ClaimRun(Result):
    """A run that looked for claims: it read so many `notes` that were new or had changed, and others once before.

    These made so many `claims`, of which `created` were not known. It `removed` those that no note supports any more
    that can be read, or that decayed. A chat model `abstracted` so many of the notes, and of its claims so many were
    `refused`; `deferred` counts the notes that patterns alone read for now, and about which the next run asks it:
    `fallbacks` says why, `cost` is what was paid.
    """

    scope: str
    at: datetime
    notes: int = 0
    claims: int = 0
    created: int = 0
    removed: int = 0
    abstracted: int = 0
    deferred: int = 0
    refused: int = 0
    fallbacks: tuple[str, ...] = ()
    cost: Cost = NOTHING


def confidence(sessions: Sequence[str], idle: int) -> float:
    """Return how far a claim is to be trusted that a note of each of these sessions supports, '' for none.

    The first note of a session counts .3, each more of it .15: 1 - Π (1 - w). With fewer than three notes it is less
    by 5 % for each of the `idle` runs that found no new evidence in new notes.

    >>> [round(confidence(some, idle), 3) for some, idle in ((["a"], 0), (["a", "b"], 0), (["a", "a"], 0), (["a"], 8))]
    [0.3, 0.51, 0.405, 0.199]
    """
    left, seen = 1.0, set[str]()
    for session in sessions:
        left *= 1 - (_MORE if session and session in seen else _FIRST)
        seen.add(session)
    decayed = _DECAY**idle if len(sessions) < _SETTLED else 1.0
    return (1 - left) * decayed
