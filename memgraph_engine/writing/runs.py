"""Runs of words by which a text is known again: each five that stand together in it, or all of a shorter one."""

from collections.abc import Iterable, Iterator
from functools import cached_property

_RUN = 5

Run = tuple[str, ...]


class Runs(frozenset[Run]):
    """Runs of words that are looked for.

    >>> sorted(Runs.of(["The code is 4711."]).found_in(["What? The code is 4711!", "The code is 12."]))
    [('the', 'code', 'is', '4711')]
    """

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Runs":
        """Return all runs of some texts."""
        return cls(run for text in texts for run in _runs(text))

    @cached_property
    def _lengths(self) -> set[int]:
        return {len(one) for one in self}

    def found_in(self, texts: Iterable[str]) -> set[Run]:
        """Return those that some texts hold."""
        return {
            run
            for text in texts
            for words in (_words(text),)
            for length in self._lengths
            for at in range(len(words) - length + 1)
            if (run := tuple(words[at : at + length])) in self
        }


def _runs(text: str) -> Iterator[Run]:
    words = _words(text)
    for at in range(max(len(words) - _RUN, 0) + 1):
        if run := tuple(words[at : at + _RUN]):
            yield run


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()
