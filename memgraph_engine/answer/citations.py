"""Citations in an answer: checked against the numbers of the context, also while the answer comes in pieces."""

import re
from collections.abc import Iterator, Sequence

from memgraph_engine.model.answer import Cited

_CITATION = re.compile(r"\s*\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_PARTS = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_OPEN = re.compile(r"\s*\[[\d\s,;–-]{0,60}$|\s+$")  # what may still become a citation


class Citations:
    """Reads an answer, and takes out of it the numbers that the context does not have.

    `cited` and `unknown` are the numbers met so far, each once, in order.

    >>> citations = Citations(most=2)
    >>> "".join([*citations.feed("Ana lives in Porto [1, 7], with Bo [9"), *citations.feed("]."), *citations.end()])
    'Ana lives in Porto [1], with Bo.'
    >>> list(citations.cited), list(citations.unknown)
    ([1], [7, 9])
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting = ""
        self.cited: dict[int, None] = {}
        self.unknown: dict[int, None] = {}

    def feed(self, piece: str) -> Iterator[str]:
        """Take the next piece, and yield what can be shown of the answer now."""
        self._waiting += piece
        open_ = _OPEN.search(self._waiting)
        at = open_.start() if open_ else len(self._waiting)
        yield from self._checked(self._waiting[:at])
        self._waiting = self._waiting[at:]

    def end(self) -> Iterator[str]:
        """Yield the rest."""
        yield from self._checked(self._waiting.rstrip())
        self._waiting = ""

    def _checked(self, text: str) -> Iterator[str]:
        if shown := _CITATION.sub(self._known, text):
            yield shown

    def _known(self, found: re.Match[str]) -> str:
        numbers = dict.fromkeys(number for part in _PARTS.finditer(found[1]) for number in _numbers(part))
        known = [number for number in numbers if 1 <= number <= self._most]
        self.cited |= dict.fromkeys(known)
        self.unknown |= {number: None for number in numbers if number not in known}
        space = found[0][: found[0].index("[")]
        return f"{space}[{', '.join(map(str, known))}]" if known else ""


def cited_in(text: str, entries: Sequence[Cited]) -> list[Cited]:
    """Return the entries of a context that a text cites by their numbers, in order."""
    read = Citations(len(entries))
    for _ in (*read.feed(text), *read.end()):
        pass
    return [entries[number - 1] for number in read.cited]


def _numbers(part: re.Match[str]) -> Sequence[int]:
    """Return the numbers of a single citation or of a range; one that runs backwards is its two ends."""
    first, last = int(part[1]), int(part[2] or part[1])
    return range(first, last + 1) if first <= last else (first, last)
