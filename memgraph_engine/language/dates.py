"""Dates that a message names, resolved against the time at which it was said, without an LLM; and dates in words.

Libraries (dateparser, parsedatetime, ctparse …) return a moment, not the range that was named, and most take "the sun"
for a date. So a grammar must find the phrase anyway, and what is left is a few lines of calendar arithmetic.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from functools import cache

from memgraph_engine.language import date_spans as spans
from memgraph_engine.language.date_grammar import Phrase, dates_file, grammar
from memgraph_engine.language.date_spans import Span
from memgraph_engine.language.tense import told_past

_BY_TENSE = frozenset({"weekday", "period", "day_of_month", "within"})
_FIXED_DATES = frozenset({"month_year", "season_year", "year", "iso", "numeric"})


@dataclass(frozen=True, slots=True)
class Event:
    """A time that a text names, at the phrase's own precision.

    `start` is its first moment and `end` the first moment after it, in UTC; days are those of the zone in which it was
    said. `at` is the phrase's place in the text, in characters. `spelt` is the date in words, '' if the phrase itself
    names the year.
    """

    phrase: str
    start: datetime
    end: datetime
    at: int
    spelt: str = ""


def events(text: str, said_at: datetime | None, language: str) -> tuple[Event, ...]:
    """Return the times that a text names, in order; what can be read in two ways lasts from the one to the other.

    A weekday or the day of a month is the latest one in a clause that tells of the past, else the nearest. `said_at` is
    aware (a naive one is read as UTC); without it, there is nothing. A language without a grammar knows dates in digits
    only. Never raises, whatever the text.

    >>> (event,) = events("I moved last Friday.", datetime(2023, 5, 10, 15, 30, tzinfo=UTC), "english")
    >>> event.phrase, str(event.start), str(event.end)
    ('last Friday', '2023-05-05 00:00:00+00:00', '2023-05-06 00:00:00+00:00')
    """
    if said_at is None or not (known := grammar(language)).may_match(text):
        return ()
    zone = said_at.tzinfo or UTC
    found = [_event(text, phrase, said_at.date(), zone, language) for phrase in _longest(known.phrases(text))]
    return tuple(event for event in found if event)


def resolved(text: str, events: Sequence[Event]) -> str:
    """Return the text as it is written, and behind it the date in words of each phrase that does not name it.

    >>> said = "We met yesterday."
    >>> resolved(said, events(said, datetime(2023, 5, 10, tzinfo=UTC), "english"))
    'We met yesterday. [yesterday: 9 May, 2023]'
    """
    told = ((one.spelt, one.phrase) for one in events if one.spelt)  # "3 May" is told by its date alone
    spelt = dict.fromkeys(means if means.startswith(phrase) else f"{phrase}: {means}" for means, phrase in told)
    return f"{text.rstrip()} [{'; '.join(spelt)}]" if spelt else text


def _longest(phrases: Iterable[Phrase]) -> list[Phrase]:
    """Of phrases that overlap, keep the one that begins first, and of these the longest."""
    kept: list[Phrase] = []
    for phrase in sorted(phrases, key=lambda one: (one.start, -one.end)):
        if not kept or phrase.start >= kept[-1].end:
            kept.append(phrase)
    return kept


def _event(text: str, phrase: Phrase, today: date, zone: tzinfo, language: str) -> Event | None:
    """Resolve a phrase; it holds its place in the text even if it comes to nothing."""
    if not phrase.certain:
        return None
    try:
        past = phrase.kind in _BY_TENSE and told_past(text, phrase.start, language)
        past = None if past and "aim" in phrase.means else past  # "compré entradas para el sábado"
        past = past and "goal" not in phrase.means  # "it was moved to the 23rd"
        ways = (True, False) if past is None else (past,)
        found, *others = {_spans(phrase, today, language, past=one) for one in ways}
        if not found or others:
            return None
        start, end = (datetime.combine(one, time(), zone).astimezone(UTC) for one in (found[0][0], found[-1][1]))
    except (ValueError, OverflowError):  # 31 February; a year before 1 or after 9999
        return None
    absolute = phrase.kind in _FIXED_DATES or (phrase.kind == "date" and "year" in phrase.means)
    spelt = "" if absolute else _written(language).either.join(spoken_days(*span, language) for span in found)
    return Event(text[phrase.start : phrase.end], start, end, phrase.start, spelt)


def _spans(phrase: Phrase, today: date, language: str, *, past: bool) -> tuple[Span, ...]:
    """Return what a phrase means, in each way in which it can be read, in a clause that tells of the past or not."""
    which = "last" if "since" in phrase.means else str(phrase.means.get("which", ""))
    if phrase.kind == "weekday":
        return spans.weekday(today, which, phrase.number("weekday"), past=past)
    if phrase.kind == "period":
        return spans.period(today, which, phrase.word("period"), past=past)
    if phrase.kind == "day_of_month":
        return (spans.day_of_month(today, phrase.number("day"), past=past or which == "last"),)
    if phrase.kind == "within" and past:
        return ()  # how long it took
    span = _span(phrase, today, language)
    return (span,) if span else ()


def _span(phrase: Phrase, today: date, language: str) -> Span | None:
    if phrase.kind == "fixed":
        unit, count = phrase.word("fixed").split()
        return spans.shifted(today, unit, int(count))
    if phrase.kind in ("ago", "ahead", "within"):
        steps = phrase.number("number")
        return spans.shifted(today, phrase.word("unit"), -steps if phrase.kind == "ago" else steps)
    if phrase.kind == "weekday_of_week":
        return spans.weekday_of_week(today, phrase.word("which"), phrase.number("weekday"))
    if phrase.kind == "named":
        return _named(phrase, today)
    return _absolute(phrase, today, language)


def _named(phrase: Phrase, today: date) -> Span | None:
    which, years = phrase.word("which"), (today.year - 1, today.year, today.year + 1)
    if "season" in phrase.means:
        number = phrase.number("season")
        if which == "last":
            return spans.last_season(today, number)
        before, this, after = (spans.season(year, number) for year in years)
    else:
        before, this, after = (spans.month(year, phrase.number("month")) for year in years)
    return spans.named(today, which, (before, this, after))


def _absolute(phrase: Phrase, today: date, language: str) -> Span | None:
    if phrase.kind == "numeric":
        return _numeric(phrase, language)
    if "year" not in phrase.means:
        return spans.near(today, phrase.number("month"), phrase.number("day"))
    year = phrase.number("year")
    if phrase.kind == "year":
        return spans.month(year, 1, 12)
    if phrase.kind == "season_year":
        return spans.season(year, phrase.number("season"))
    if phrase.kind == "month_year":
        return spans.month(year, phrase.number("month"))
    return spans.day(date(year, phrase.number("month"), phrase.number("day")))


def _numeric(phrase: Phrase, language: str) -> Span | None:
    """Read 31/12/2023: where the language does not say that the day comes first, only a number above 12 tells."""
    first, second = phrase.number("one"), phrase.number("other")
    day_first = grammar(language).day_first
    if first <= 12 and second <= 12 and first != second and not day_first:
        return None
    if second > 12 and not day_first:
        first, second = second, first
    return spans.day(date(phrase.number("year"), second, first))


@dataclass(frozen=True, slots=True)
class _Written:
    """How a language writes dates: the names of its months, and forms for `str.format`; else as ISO 8601 does."""

    months: str = " " * 11
    day: str = "{year}-{month:02}-{day:02}"
    month: str = "{year}-{month:02}"
    year: str = "{year}"
    week: str = ""
    weekend: str = ""
    several: str = "{}/{}"
    either: str = "/"
    moment: str = "{day} {hour:02}:{minute:02}"

    def of(self, form: str, day: date) -> str:
        """Return the day, the month or the year that a day is in."""
        name = self.months.split(" ")[day.month - 1]
        return form.format(day=day.day, month=day.month, year=day.year, name=name)


@cache
def _written(language: str) -> _Written:
    return _Written(**dates_file(language).get("written", {}))


def as_day(given: str) -> date | None:
    """Return the day that an ISO 8601 string names, None if it names an hour too.

    >>> as_day("2023-05-08"), as_day("2023-05-08t13:56")
    (datetime.date(2023, 5, 8), None)
    """
    try:
        return date.fromisoformat(given)
    except ValueError:
        return None


def spoken_days(first: date, end: date, language: str) -> str:
    """Spell the days from `first` to the day before `end`, as a day, a week or weekend, months or a year.

    >>> spoken_days(date(2023, 5, 5), date(2023, 5, 6), "english")
    '5 May, 2023'
    >>> spoken_days(date(2023, 5, 1), date(2023, 5, 8), "english")
    'week of 1 May, 2023'
    >>> spoken_days(date(2022, 6, 1), date(2022, 9, 1), "spanish")
    'junio de 2022 a agosto de 2022'
    """
    written, length = _written(language), (end - first).days
    if length > 360:
        return written.of(written.year, first)
    form = written.day if length < 28 else written.month
    begin, close = written.of(form, first), written.of(form, end - spans.DAY)
    if begin == close:
        return begin
    return ({7: written.week, 2: written.weekend}.get(length) or written.several).format(begin, close)


def spoken_time(said_as: str, language: str) -> str:
    """Spell a time as it was given (ISO 8601): its own day and hour, whatever the zone.

    >>> spoken_time("2023-05-08T13:56:00", "english")
    '1:56 pm on 8 May, 2023'
    """
    moment, written = datetime.fromisoformat(said_as), _written(language)
    day = written.of(written.day, moment)
    if as_day(said_as) is not None:
        return day
    half = {"hour12": moment.hour % 12 or 12, "half": "am" if moment.hour < 12 else "pm"}
    return written.moment.format(day=day, hour=moment.hour, minute=moment.minute, **half)
