"""Which hits may be on the same matter, in order of time: the nearest to each other of what one speaker said."""

from collections.abc import Sequence
from datetime import datetime

from memgraph_engine.graph.note_cache import CachedNote

_DAY = 86_400_000  # milliseconds


def later(notes: Sequence[CachedNote], moment: datetime) -> dict[str, str]:
    """Return for notes, by id, the one that its speaker said on a later day and that is perhaps on the same matter.

    Of all these notes each of the two is nearest in meaning to the other, among those of later days and of earlier
    ones. So most changes stand beside what they change, however they are worded; and much that is true all the same,
    so this tells of order and of nothing else. An assistant's notes, and those without vectors, have none. Days are
    those of the zone of `moment`.
    """
    import numpy as np

    own = [note for note in notes if note.role != "assistant" and note.vectors is not None]
    if len(own) < 2:
        return {}
    zone = moment.utcoffset()
    days = np.array([note.said_at for note in own]) + (zone.total_seconds() * 1000 if zone else 0)
    days //= _DAY
    speakers = np.unique([f"{note.scope}\0{note.speaker}\0{note.role}" for note in own], return_inverse=True)[1]
    vectors = [note.vectors for note in own if note.vectors is not None]
    raw = np.stack(vectors).reshape(len(own), 2, -1)[:, 0]
    follows = (speakers[:, None] == speakers) & (days[:, None] < days)  # from an earlier note to a later one
    near = np.where(follows, raw @ raw.T, -np.inf)
    behind, before = near.argmax(axis=1), near.argmax(axis=0)
    return {
        note.id: own[at].id
        for row, (note, at) in enumerate(zip(own, behind.tolist(), strict=True))
        if follows[row, at] and before[at] == row
    }
