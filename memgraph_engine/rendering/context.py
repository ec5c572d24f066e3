"""A note's two texts, made of its sources and the turns before them: the deterministic context."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memgraph_engine.language import tokenize, word_list
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import Source, by_time
from memgraph_engine.model.text import as_day, line
from memgraph_engine.rendering.when import Event, events, resolved

_LISTED = ("english", "spanish")  # languages with a list of words that tell nothing


@dataclass(frozen=True, slots=True)
class Text:
    """What was said, a line for each source, and the same made self-contained."""

    raw: tuple[str, ...]
    context: str

    @property
    def spoken(self) -> str:
        """All lines of `raw`."""
        return "\n".join(self.raw)


def render(turns: Sequence[tuple[Source, Source | None]], language: str) -> Text:
    """Render a note's sources, each with the turn before it.

    The context repeats that turn, unless it is one of the note's own, and puts the day behind a relative date.
    What is only said again adds nothing.

    >>> first = Source("1", "Where were you?", "", speaker="Bo")
    >>> second = Source("2", "I sailed yesterday.", "", speaker="Ana", said_as="2023-05-08")
    >>> render([(second, first)], "english").context
    'Bo: Where were you? Ana: I sailed yesterday [7 May, 2023]. (8 May, 2023)'
    """
    own = {source.id for source, _ in turns}
    parts: dict[str, None] = {}
    raw: dict[tuple[str, ...], str] = {}
    for source, previous in sorted(turns, key=lambda turn: by_time(turn[0])):
        saying = words(source.speaker or source.role, without_recalled(source.text), source.caption, language)
        if saying in raw:
            continue
        raw[saying] = line(source, language)
        if previous and previous.id not in own:
            parts[line(previous, language)] = None
        dated = resolved(without_recalled(source.text), told(source, language))
        parts[line(replace(source, text=dated), language)] = None
    return Text(tuple(raw.values()), " ".join(parts))


def words(speaker: str, text: str, caption: str, language: str) -> tuple[str, ...]:
    """Return what makes two lines plain repeats of each other: who speaks, and the terms in order."""
    return (speaker.casefold(), *tokenize(f"{text} {caption}", language))


def told(source: Source, language: str) -> tuple[Event, ...]:
    """Return the dates that a source names, by the day on which it was said; none without one."""
    return events(without_recalled(source.text), _moment(source), language)


def _moment(source: Source) -> datetime | None:
    """Return when it was said, in the speaker's own zone where that was given."""
    if source.said_as and as_day(source.said_as) is None:
        own = datetime.fromisoformat(source.said_as)
        if own.tzinfo:
            return own
    return source.said_at or (datetime.fromisoformat(source.said_as) if source.said_as else None)


def noise(source: Source, language: str) -> str:
    """Say why a source tells nothing, '' if it may tell something: greetings, thanks and laughter alone.

    "Yes" and "no" answer the turn before, which the context repeats.

    >>> noise(Source("1", "Haha, thanks!", ""), "english"), noise(Source("1", "No, thanks.", ""), "english")
    ('small talk', '')
    """
    words = re.findall(r"[^\W_]+", without_recalled(source.text).casefold())
    if source.caption or not words or language not in _LISTED:
        return ""
    small_talk = word_list(f"{language}-small-talk")
    return "small talk" if all(word in small_talk for word in words) else ""
