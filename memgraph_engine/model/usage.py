"""How a reader has used a note."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Outcome = Literal["used", "contradicted", "unused", "shown"]
"""What a shown note was to an answer; "shown" is neither, of a note that stood too far behind to be told unused."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one reader and one note: how often it was `shown`, and how often an answer `used` it.

    `utility` (0 to 100) is what it was worth at `scored_at`: when it was last shown, or else when it was created.
    """

    utility: int
    scored_at: datetime
    shown: int = 0
    used: int = 0
    last_shown: datetime | None = None
    last_used: datetime | None = None
