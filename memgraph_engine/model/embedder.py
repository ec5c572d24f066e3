"""The embedder of a database, and its change to another one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memgraph_engine.interface.results import Result


@dataclass(frozen=True, slots=True, repr=False)
class EmbedderStatus(Result):
    """Which embedder a database has, and what becomes of the vectors of another one (`other`).

    `state` is "settled" where there is none; "filling" while a worker makes them, of which searches know nothing yet:
    `filled` of about `texts` texts are embedded; "kept" for a rollback, `until` then; "leaving" while a worker removes
    them.
    """

    brief = ("embedder", "state", "other")

    embedder: str
    dimensions: int
    state: Literal["settled", "filling", "kept", "leaving"] = "settled"
    other: str = ""
    filled: int = 0
    texts: int = 0
    until: datetime | None = None


@dataclass(frozen=True, slots=True, repr=False)
class EmbedderChange(Result):
    """What a change to another embedder takes, about, and whether it was `begun`.

    So many `notes` (with former versions) and `keywords` have `texts` to embed, in so many `seconds` as a sample took.
    `bytes` is what the vectors need beside those that there are, `free` what the managed server's disk has; None for
    a server of your own.
    """

    brief = ("embedder", "to", "texts", "seconds", "begun")

    embedder: str
    to: str
    dimensions: int
    notes: int
    keywords: int
    texts: int
    seconds: float
    bytes: int
    free: int | None
    begun: bool
