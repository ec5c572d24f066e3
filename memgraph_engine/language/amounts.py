"""Numbers beside what they count: which of a line's a new one may stand for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from memgraph_engine.language.wording import ORDINAL, Lists, Token

_HOUR = re.compile(r"\d?\d[:h]\d\d")
_DAY = 24  # hours
_DIGIT = re.compile(r"\d")


class Amount(NamedTuple):
    """A number of a text: `unit` is what it counts, '' for nothing.

    `hour` tells that it is a time of the day, and `lasts` that it counts hours or the like. `tokens` are the number
    and, behind it, what tells that it is an hour ("pm").
    """

    tokens: Sequence[Token]
    unit: str
    hour: bool
    lasts: bool

    @property
    def plain(self) -> str:
        """The number as it is compared."""
        return self.tokens[0].plain

    def fits(self, other: "Amount") -> bool:
        """Whether it may stand in the place of another: both count the same or are hours, or one does not tell."""
        if not self.hour and not other.hour:
            alike = self.unit.startswith(other.unit) or other.unit.startswith(self.unit)
            same = self.unit == other.unit or (alike and not self.lasts and not other.lasts)
            return same and abs(len(self.digits) - len(other.digits)) <= 1
        bare = [one for one in (self, other) if not one.hour]
        return all(not one.unit and one.plain.isdigit() and int(one.plain) <= _DAY for one in bare)

    @property
    def digits(self) -> list[str]:
        """Its digits."""
        return _DIGIT.findall(self.plain)

    @property
    def shape(self) -> str:
        """The number with all digits alike: "18:40" is of a kind with "16:25", not with "7"."""
        return _DIGIT.sub("0", self.plain)


def amounts(tokens: Sequence[Token], lists: Lists) -> list[Amount]:
    """Return the numbers of some tokens."""
    found = []
    for at, one in enumerate(tokens):
        if one.number:
            beside = [token for token in tokens[at + 1 : at + 3] if token.clause == one.clause]
            clock = [token for token in beside[:1] if token.word in lists.clock]
            counted = None if clock else _counted(beside, lists)
            unit = (counted.stem or counted.plain) if counted else ""
            hour = bool(clock) or bool(_HOUR.fullmatch(one.written))
            lasts = counted is not None and counted.plain in lists.times and counted.plain not in lists.dates
            found.append(Amount((one, *clock), unit, hour, lasts))
    return found


def _counted(beside: Sequence[Token], lists: Lists) -> Token | None:
    """Return what a number counts, by the two words behind it: "hens", and "of" where it is "2 of us"."""
    after = next((one for one in beside[:1] if not one.number and one.plain not in ORDINAL), None)
    some = after is not None and after.plain in lists.several and not {one.plain for one in beside} & lists.determiners
    return after if after is not None and (after.stem or some) else None


def replaced(new: Sequence[Amount], old: Sequence[Amount]) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """Return the new numbers, and the old ones in whose place they stand; None where that is not plain.

    An old one is meant if no other fits, or is as much like a new one: in what it counts, in its shape, in its digits.
    """
    put = [one for one in new if one.plain not in {other.plain for other in old}]
    left = [one for one in old if one.plain not in {other.plain for other in new}]
    fitting = [one for one in left if put and put[0].fits(one)]
    counted = [one for one in fitting if (one.unit, one.hour) == (put[0].unit, put[0].hour)]
    shaped = [one for one in fitting if one.shape == put[0].shape]
    slips = [one for one in shaped if sorted(one.digits) == sorted(put[0].digits)]
    for some in (fitting, counted, shaped, slips):
        if 0 < len({one.plain for one in some}) <= len(put):
            return [token for one in put for token in one.tokens], [token for one in some for token in one.tokens]
    return None
