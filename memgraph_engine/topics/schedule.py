"""When the topics of a memory are due."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Schedule:
    """After so many new notes, at the times of a cron expression, or both; 0 and '' are never."""

    after: int
    cron: str
    timezone: ZoneInfo

    @classmethod
    def of(cls, settings: Settings) -> "Schedule":
        """Return that of the settings."""
        return cls(settings.worker.topics_after, settings.worker.topics_cron, ZoneInfo(settings.timezone))

    def __bool__(self) -> bool:
        """Whether topics are ever due."""
        return bool(self.after or self.cron)

    def __str__(self) -> str:
        """Say it.

        >>> str(Schedule(100, "0 3 * * *", ZoneInfo("Europe/Lisbon")))
        "after 100 new notes with keywords, at '0 3 * * *' (Europe/Lisbon)"
        """
        after = f"after {self.after:,} new notes with keywords" if self.after else ""
        cron = f"at {self.cron!r} ({self.timezone.key})" if self.cron else ""
        return ", ".join(part for part in (after, cron) if part) or "never"

    def due(self, waiting: Waiting, now: datetime) -> str:
        """Return why the topics of a memory are due, '' if they are not. Without a change they are never due.

        Times of the cron expression that every worker missed are made up for once; by it, topics that were never
        looked for are due at once.
        """
        if not waiting.changed_since:
            return ""
        if 0 < self.after <= waiting.notes_since:
            return f"{waiting.notes_since:,} new notes"
        last = self._last(now)
        if last and (waiting.ran is None or waiting.ran < last):
            return f"{self.cron!r} at {last:%Y-%m-%d %H:%M}"
        return ""

    def waits(self, waiting: Waiting, now: datetime) -> str:
        """Say for what the topics of a memory wait, and how near that is; '' where none do, or they are due."""
        if not (self and waiting.changed_since) or self.due(waiting, now):
            return ""
        parts = []
        if self.after and waiting.notes_since:
            parts.append(f"until {self.after:,} new notes have keywords ({waiting.notes_since:,} do)")
        if self.cron:
            parts.append(f"for the next time of {self.cron!r}")
        return f"wait {' or '.join(parts)}" if parts else ""

    def _last(self, now: datetime) -> datetime | None:
        """Return the last time, up to now, that the cron expression names."""
        if not self.cron:
            return None
        after = (now + timedelta(seconds=1)).astimezone(self.timezone)  # the moment itself counts
        last: datetime | None = next(CronSim(self.cron, after, reverse=True), None)
        return last
