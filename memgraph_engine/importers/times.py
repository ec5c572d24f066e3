"""Times as other programs write them."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"-?\d{9,16}(\.\d+)?")
_LATEST = 1e11  # seconds, in the year 5138; a larger number has thousandths or millionths of them


def iso(given: object) -> object:
    """Return a time as `Memory.add` takes it: seconds, thousandths or millionths since 1970, or a mail's date, as ISO.

    What is none of these comes back as it is, and is judged as all times are.

    >>> iso(1683554160), iso("1683554160000"), iso("Mon, 08 May 2023 13:56:00 +0000")
    ('2023-05-08T13:56:00+00:00', '2023-05-08T13:56:00+00:00', '2023-05-08T13:56:00+00:00')
    """
    if isinstance(given, bool):
        return given
    if isinstance(given, int | float) or (isinstance(given, str) and _NUMBER.fullmatch(given.strip())):
        return _since_1970(given) or given
    if isinstance(given, str) and "," in given[:5]:
        try:
            return parsedate_to_datetime(given).isoformat()
        except (ValueError, OverflowError):
            return given
    return None if given == "" else given


def _since_1970(given: float | str) -> str | None:
    try:
        number = float(given)
        for _ in range(2):
            if abs(number) > _LATEST:
                number /= 1000
        return (_EPOCH + timedelta(seconds=number)).isoformat()
    except (OverflowError, ValueError):
        return None
