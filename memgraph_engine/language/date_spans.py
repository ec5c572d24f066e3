"""Days, weeks, months, seasons and years around a day: the arithmetic behind "last week".

A span is its first day and the day after its last. What can be read in two ways has two spans; None stands for a phrase
that tells too little. Weeks begin on Monday; seasons are the northern ones of three whole months, and a winter belongs
to the year in which it begins. Days outside the years 1 to 9999 raise ValueError or OverflowError.
"""

from datetime import date, timedelta

Span = tuple[date, date]

DAY, _WEEK = timedelta(days=1), timedelta(weeks=1)
_STEPS = {"last": -1, "this": 0, "next": 1, "coming": 1}
_NEAR = timedelta(days=120)  # a date without a year: the next nearest one is then twice as far
_SEASON_MONTHS = (3, 6, 9, 12)  # in which spring, summer, autumn and winter begin


def day(first: date) -> Span:
    """Return the span of one day."""
    return first, first + DAY


def month(year: int, number: int, length: int = 1) -> Span:
    """Return the span of `length` months; `number` may lie outside 1 to 12.

    >>> month(2023, 12)
    (datetime.date(2023, 12, 1), datetime.date(2024, 1, 1))
    """
    begin = year * 12 + number - 1
    end = begin + length
    return date(begin // 12, begin % 12 + 1, 1), date(end // 12, end % 12 + 1, 1)


def season(year: int, number: int) -> Span:
    """Return the span of a season that begins in `year`: 0 spring, 1 summer, 2 autumn, 3 winter."""
    return month(year, _SEASON_MONTHS[number], 3)


def shifted(today: date, unit: str, steps: int) -> Span:
    """Return the day, week, weekend, month or year that lies `steps` of them from today's.

    >>> shifted(date(2023, 5, 10), "week", -2)
    (datetime.date(2023, 4, 24), datetime.date(2023, 5, 1))
    """
    if unit == "day":
        return day(today + steps * DAY)
    if unit == "month":
        return month(today.year, today.month + steps)
    if unit == "year":
        return month(today.year + steps, 1, 12)
    monday = today - today.weekday() * DAY + steps * _WEEK
    return (monday + 5 * DAY if unit == "weekend" else monday), monday + _WEEK


def period(today: date, which: str, unit: str, *, past: bool) -> tuple[Span, ...]:
    """Return the last, this or next `unit`; in the `past` "this weekend" is the one before until Tuesday.

    "Next weekend" may be the coming one or the one after until Friday: then both are returned.
    """
    if unit != "weekend":
        return (shifted(today, unit, _STEPS[which]),)
    weekend = today.weekday() > 4
    if which == "next":
        return (*(() if weekend else [shifted(today, unit, 0)]), shifted(today, unit, 1))
    back = which == "last" or (which == "this" and past and today.weekday() < 2)
    return (shifted(today, unit, -1 if back else 1 if which == "coming" and weekend else 0),)


def weekday(today: date, which: str, number: int, *, past: bool) -> tuple[Span, ...]:
    """Return a weekday, of which 0 is Monday: the latest before today if it lies in the `past`, else the nearest.

    "Next" may be the nearest one or that of next week while it is still to come in this week: then both are returned.

    >>> [str(first) for first, _ in weekday(date(2023, 5, 10), "next", 4, past=False)]
    ['2023-05-12', '2023-05-19']
    """
    ahead = (number - today.weekday() - 1) % 7 + 1
    if which == "this" and ahead == 7:
        return (day(today),)
    if which == "last" or (past and (not which or (which == "this" and number < today.weekday()))):
        return (day(today - ((today.weekday() - number - 1) % 7 + 1) * DAY),)
    nearest = today + ahead * DAY
    return (day(nearest), day(nearest + _WEEK)) if which == "next" and number > today.weekday() else (day(nearest),)


def day_of_month(today: date, number: int, *, past: bool) -> Span:
    """Return the latest day of this number before today if it lies in the `past`, else the nearest from today on."""
    months = range(0, -3, -1) if past else range(3)  # February may have none
    firsts = (month(today.year, today.month + steps) for steps in months)
    days = (first + (number - 1) * DAY for first, end in firsts if first + (number - 1) * DAY < end)
    return day(next(one for one in days if (one < today if past else one >= today)))


def weekday_of_week(today: date, which: str, number: int) -> Span:
    """Return a weekday of the last, this or next week."""
    monday = shifted(today, "week", _STEPS[which])[0]
    return day(monday + number * DAY)


def last_season(today: date, number: int) -> Span:
    """Return the latest such season that is over."""
    return next(span for back in range(3) if (span := season(today.year - back, number))[1] <= today)


def named(today: date, which: str, spans: tuple[Span, Span, Span]) -> Span | None:
    """Return one of a month's or season's spans of last, this and next year.

    "Last" and "next" are certain if the nearest one lies in another year, "this" if it is less than half a year away.
    """
    before, this, after = spans
    if which == "coming":
        return this if this[0] > today else after
    if which == "last":
        return before if before[1] <= today < this[1] else None
    if which == "next":
        return after if this[0] <= today else None
    if which == "this" and before[1] <= today:
        return this if abs(this[0] - today) < timedelta(days=183) else None
    return None


def near(today: date, month_number: int, number: int) -> Span | None:
    """Return a day of a month, given without a year, if it is less than four months away."""
    for year in (today.year - 1, today.year, today.year + 1):
        if month(year, month_number)[0] + (number - 1) * DAY < month(year, month_number)[1]:  # 29 February
            found = date(year, month_number, number)
            if abs(found - today) <= _NEAR:
                return day(found)
    return None
