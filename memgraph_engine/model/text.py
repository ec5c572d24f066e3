"""How a source reads as a line: speaker in front, date behind, in the words of its language."""

from datetime import date, datetime

from memgraph_engine.model.memory import Source

_MONTHS = {
    "english": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    "spanish": (
        *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
        *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
    ),
}


def line(source: Source, language: str) -> str:
    """Render a source as one line of a note's raw text.

    The date is spelt in words, since that is how questions name it.

    >>> line(Source("1", "I moved.", "", speaker="Ana", said_as="2023-05-08T13:56:00"), "english")
    'Ana: I moved. (1:56 pm on 8 May, 2023)'
    """
    who = source.speaker or source.role
    parts = [f"{who}:"] if who else []
    if source.text.strip():
        parts.append(source.text.strip())
    if source.caption:
        parts.append(f"[image: {source.caption}]")
    if source.said_as:
        parts.append(f"({_spoken(source.said_as, language)})")
    return " ".join(parts)


def as_day(given: str) -> date | None:
    """Return the day that an ISO 8601 string names, None if it names an hour too.

    >>> as_day("2023-05-08"), as_day("2023-05-08t13:56")
    (datetime.date(2023, 5, 8), None)
    """
    try:
        return date.fromisoformat(given)
    except ValueError:
        return None


def _spoken(said_as: str, language: str) -> str:
    """Spell a time as it was given (ISO 8601): its own day and hour, whatever the zone."""
    moment = datetime.fromisoformat(said_as)
    timed = as_day(said_as) is None
    if language == "english":
        day = f"{moment.day} {_MONTHS['english'][moment.month - 1]}, {moment.year}"
        return f"{moment.hour % 12 or 12}:{moment:%M} {'am' if moment.hour < 12 else 'pm'} on {day}" if timed else day
    if language == "spanish":
        day = f"{moment.day} de {_MONTHS['spanish'][moment.month - 1]} de {moment.year}"
        return f"{day}, {moment:%H:%M}" if timed else day
    if language == "cjk":
        day = f"{moment.year}年{moment.month}月{moment.day}日"
        return f"{day} {moment:%H:%M}" if timed else day
    return f"{moment:%Y-%m-%d %H:%M}" if timed else f"{moment:%Y-%m-%d}"
