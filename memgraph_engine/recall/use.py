"""What use and policies add to the scores of a pool, where the settings give them a weight.

- frequency: how often the reader was shown the note, log(1 + shown) over the pool's greatest (MLA-ARC, section 3.7.1);
  `recall.restated` counts as so many showings whatever says the same again (section 3.6.1)
- decay: 2 to the power of minus its age in half-lives of its class (the same section, which gives no formula)
- utility: how useful it has proved to the reader (MemoryArchitect, section II.C.2)
- policy: the boost of its class (the same section)

Each lies between 0 and 1 for itself, whatever else the pool holds. Beside them `recall.similarity` is the weight of the
ranking's score, or of the cosine where that is the ranking, as in both papers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.graph import usage
from memgraph_engine.graph.database import Runner
from memgraph_engine.graph.note_cache import CachedNote
from memgraph_engine.graph.usage import Weighed
from memgraph_engine.lifecycle import utility
from memgraph_engine.lifecycle.policies import Policies, Policy
from memgraph_engine.model.result import ChannelScore
from memgraph_engine.model.usage import Usage
from memgraph_engine.recall.ranking import BY_COSINE
from memgraph_engine.settings import RecallSettings

USE = ("frequency", "decay", "utility", "policy")
_DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class Use:
    """What is added to the scores of a pool: a column for the score without it (`parts[0]`), and for each of USE.

    `weighted` add up to the score (0 to 1).
    """

    parts: tuple[str, ...]
    raw: "NDArray[np.float64]"
    normalised: "NDArray[np.float64]"
    weighted: "NDArray[np.float64]"

    def explained(self, row: int) -> dict[str, ChannelScore]:
        """Return what made the score of a row."""
        columns = zip(*(of[row].tolist() for of in (self.raw, self.normalised, self.weighted)), strict=True)
        return {part: ChannelScore(*scores) for part, scores in zip(self.parts, columns, strict=True)}


def weighs(settings: RecallSettings) -> bool:
    """Tell whether anything is added to the scores."""
    return settings.ranking == BY_COSINE or any(getattr(settings, channel) for channel in USE)


def weigh(
    tx: Runner,
    reader: str,
    scopes: Sequence[str],
    notes: Sequence[CachedNote],
    scores: "NDArray[np.float64]",
    cosines: "NDArray[np.float64]",
    policies: Policies,
    now: datetime,
    settings: RecallSettings,
) -> Use:
    """Add use and policies to the scores of a pool; `cosines` are those of its notes to the question, shape (notes, 2).

    Reads the classes of the notes, and how the reader has used them, in one more round trip.
    """
    own, first = scores, "ranking"
    if settings.ranking == BY_COSINE:
        own, first = cosines.max(axis=1, initial=-1.0), "similarity"
    known = usage.weighed(tx, reader, scopes, [note.id for note in notes])
    raw = np.column_stack([own, *(_channels(notes, known, policies, now, settings.restated))])
    weights = np.array([settings.similarity, *(getattr(settings, channel) for channel in USE)])
    normalised = np.clip(raw, 0.0, 1.0)
    normalised[:, 1] = np.log1p(raw[:, 1]) / max(np.log1p(raw[:, 1]).max(initial=0.0), 1e-9)
    normalised[:, 3] = raw[:, 3] / utility.MOST
    normalised[:, 4] = (1 + raw[:, 4]) / 2
    return Use((first, *USE), raw, normalised, normalised * weights / weights.sum())


def _channels(
    notes: Sequence[CachedNote], known: Mapping[str, Weighed], policies: Policies, now: datetime, restated: float
) -> "list[NDArray[np.float64]]":
    """Return for each of USE what is weighed of each note, as it is."""
    classes = [policies.known(known[note.id].policy if note.id in known else "") for note in notes]
    used = [_usage(known.get(note.id), policy, now) for note, policy in zip(notes, classes, strict=True)]
    told = [restated * max(known[note.id].restated, 0) if note.id in known else 0.0 for note in notes]
    ages = [max(now.timestamp() - note.said_at / 1000, 0.0) / _DAY for note in notes]
    columns = (
        [one.shown + again for one, again in zip(used, told, strict=True)],
        [_decayed(age, policy) for age, policy in zip(ages, classes, strict=True)],
        [utility.current(one, now) for one in used],
        [policy.boost for policy in classes],
    )
    return [np.array(column, dtype=np.float64) for column in columns]


def _usage(known: Weighed | None, policy: Policy, now: datetime) -> Usage:
    """Return how a note was used; one that was never counted starts with what its class and kind give it."""
    if known and known.usage:
        return known.usage
    return utility.started(policy, known.created if known else now, message=not known or known.message)


def _decayed(days: float, policy: Policy) -> float:
    """Return what is left after some days.

    >>> _decayed(60.0, Policy("factual"))
    0.25
    """
    half: float = policy.half_life.total_seconds() / _DAY if policy.half_life else 0.0
    return 2.0 ** (-days / half) if half else 1.0
