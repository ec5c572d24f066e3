"""A clock for tests, of which a memory takes its present."""

from datetime import UTC, datetime, timedelta

BEGIN = datetime(2024, 5, 1, 9, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: datetime = BEGIN) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def later(self, by: timedelta) -> None:
        """Put it on."""
        self.now += by
