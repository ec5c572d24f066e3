"""Times as other programs write them."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"-?\d{9,16}(\.\d+)?")
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_LATEST = 1e11  # seconds, in the year 5138; a larger number has thousandths or millionths of them


def iso(given: object) -> object:
    """Return a time as `Memory.add` takes it, in ISO 8601.

    It may be seconds, thousandths or millionths since 1970, a mail's date, or one without marks. What is none of these
    comes back as it is, and is judged as all times are.

    >>> iso(1683554160), iso("1683554160000"), iso("Mon, 08 May 2023 13:56:00 +0000")
    ('2023-05-08T13:56:00+00:00', '2023-05-08T13:56:00+00:00', '2023-05-08T13:56:00+00:00')
    >>> iso("20230508135600"), iso(20230508)
    ('2023-05-08T13:56:00', '2023-05-08T00:00:00')
    """
    if isinstance(given, bool):
        return given
    if isinstance(given, int | str) and (compact := _compact(str(given).strip())):
        return compact
    if isinstance(given, int | float) or (isinstance(given, str) and _NUMBER.fullmatch(given.strip())):
        return _since_1970(given) or given
    if isinstance(given, str) and "," in given[:5]:
        try:
            return parsedate_to_datetime(given).isoformat()
        except (ValueError, OverflowError):
            return given
    return None if given == "" else given


def _compact(text: str) -> str | None:
    """Return a day, or a moment of one, that is written without marks, as 20230508 or 20230508135600."""
    form = _COMPACT.get(len(text)) if text.isascii() and text.isdigit() and text[:2] in ("19", "20") else None
    try:
        return datetime.strptime(text, form).isoformat() if form else None  # noqa: DTZ007  of the zone of the settings
    except ValueError:
        return None


def _since_1970(given: float | str) -> str | None:
    try:
        number = float(given)
        for _ in range(2):
            if abs(number) > _LATEST:
                number /= 1000
        return (_EPOCH + timedelta(seconds=number)).isoformat()
    except (OverflowError, ValueError):
        return None
