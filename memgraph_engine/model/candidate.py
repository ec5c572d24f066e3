"""What ingest hands to the gate: a note to be, with everything computed that does not depend on its fate."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memgraph_engine.model.memory import Source, note_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a candidate. `key` is the form in which near-identical names meet; `vector` is the name's."""

    name: str
    key: str
    vector: "NDArray[np.float32]"


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
