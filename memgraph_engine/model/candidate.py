"""What ingest hands to the gate: notes to be, with all that does not depend on their fate, and what is near them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.model.memory import DEFAULT_POLICY, NEVER, Source, note_id

_ALONE = 1 << 18  # multiplications that BLAS does without waking a second thread, which may wait for a core


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a candidate. `key` is the form in which near-identical names meet; `vector` is the name's."""

    name: str
    key: str
    vector: "NDArray[np.float32]"


@dataclass(frozen=True, slots=True)
class Placed:
    """A source, or a passage of it, in its place (`seq`): after which source, and what a context may repeat before it.

    `previous` is the id of the turn before, None for a later passage too. `before` is the passage before it, else the
    turn before (of a long one the last passage). `noise` says why it makes no note, '' if it does. `waiting` is the id
    of the note that it has already.
    """

    source: Source
    previous: str | None = None
    before: Source | None = None
    noise: str = ""
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source's note before the gate: two texts, their terms and vectors, and the keywords, best first.

    `previous` is the id of the turn before it, None for a later passage. `before` is that turn, or the passage before,
    if the context may repeat it.
    A pending one has no vectors yet. `constructed_by` is the chat model that wrote the context, '' for none;
    `valid_from` is the start of the event that it tells, None for when it was said. `noise` says why it makes
    no note of its own, '' if it does. `waiting` is the id of the note that waits for it, '' for none.
    """

    source: Source
    previous: str | None
    before: Source | None
    raw: str
    context: str
    raw_terms: Sequence[str]
    context_terms: Sequence[str]
    raw_vector: "NDArray[np.float32] | None"
    context_vector: "NDArray[np.float32] | None"
    keywords: tuple[Keyword, ...]
    constructed_by: str = ""
    valid_from: datetime | None = None
    noise: str = ""
    waiting: str = ""

    def note(self, scope: str) -> str:
        """Return the id of its note in a scope."""
        return self.waiting or note_id(scope, *self.source.key)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored note, as the gate compares it.

    `sources` are ordered by time and hold what was said, by whom and when, no more. `rewritten` are the lines of a note
    that a user gave a text of its own, or of a `summary`, else empty. `ended` is the note that tells a change of it
    last, or replaced it: then it is `gone`, and when that was said. `policy` is its class, `expires_at` when it ends.
    """

    id: str
    context: str
    said_at: datetime
    keywords: tuple[str, ...]
    sources: tuple[Source, ...]
    rewritten: tuple[str, ...]
    ended: tuple[str, datetime] | None
    policy: str = DEFAULT_POLICY
    expires_at: datetime = NEVER
    summary: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The notes near a batch, and for each candidate the cosine of what was said to those near it (-1…1).

    What one of them has replaced is near to what that is near to, with a cosine of 0.
    """

    notes: Mapping[str, Neighbour]
    near: Sequence[Mapping[str, float]]


LookUp = Callable[[Sequence[Candidate], Sequence[Sequence[str]], Sequence[int]], Neighbourhood]
"""From candidates, the words by which each is looked up, and how many messages before it are near, to stored notes."""


def within(candidates: Sequence[Candidate], reach: Sequence[int], *, near: int) -> list[list[tuple[int, float]]]:
    """Return for each the nearest candidates before it, which no index holds yet, with the cosine of each.

    Beside the nearest those of the `reach` messages right before it. What makes no note has no vector, and is near to
    nothing; nor is what is kept apart.
    """
    found: list[list[tuple[int, float]]] = [[] for _ in candidates]
    notes = [place for place, one in enumerate(candidates) if one.raw_vector is not None and not one.source.apart]
    if len(notes) < 2:
        return found
    raw = _cosines([candidates[place].raw_vector for place in notes])
    turns: dict[tuple[str, int], list[int]] = {}
    for row, place in enumerate(notes):
        source = candidates[place].source
        nearest = np.argsort(-raw[row, :row], kind="stable")[:near].tolist()
        before = (turns.get((source.session, seq), ()) for seq in turns_before(source, reach[place]))
        wanted = dict.fromkeys((*nearest, *chain.from_iterable(before)))
        found[place] = [(notes[i], float(raw[row, i])) for i in wanted]
        turns.setdefault((source.session, source.seq), []).append(row)
    return found


def _cosines(vectors: "Sequence[NDArray[np.float32] | None]") -> "NDArray[np.float32]":
    stacked = np.stack([vector for vector in vectors if vector is not None])
    rows = max(_ALONE // stacked.size, 1)
    return np.concatenate([stacked[at : at + rows] @ stacked.T for at in range(0, len(stacked), rows)])


def turns_before(source: Source, reach: int) -> list[int]:
    """Return the turns of a session right before a message."""
    return list(range(max(source.seq - reach, 0), source.seq)) if source.session else []
