"""A text as it is read: its tokens, and what can be told by these alone."""

import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, wraps
from typing import Any, TypeVar

from memgraph_engine.language.wording import LONG, Token, lists_of, stems, text_of, wording, words

R = TypeVar("R", bound="Reading")
T = TypeVar("T")


def once(read: Callable[[R], T]) -> Callable[[R], T]:
    """Return a function of a line that reads it once: what it finds is kept with the line, and goes with it."""

    @wraps(read)
    def kept(line: R) -> T:
        if read not in line.kept:
            line.kept[read] = read(line)
        found: T = line.kept[read]
        return found

    return kept


class Reading:
    """A text in a language, by a `speaker` ('' where that is not known); all of it is read once, when it is asked for.

    >>> sorted(Reading("I moved to Faro.", "english").content)
    ['faro', 'move']
    """

    def __init__(self, text: str, language: str, speaker: str = "") -> None:
        self.text, self.language, self.speaker = text, language, speaker
        self.kept: dict[Callable[..., Any], Any] = {}
        self.lists = lists_of(language)

    @cached_property
    def speaker_names(self) -> frozenset[str]:
        """The words of its speaker's name."""
        return frozenset(self.speaker.split())

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its wording."""
        return wording(self.text, self.language)

    def words(self, tokens: Collection[Token]) -> str:
        """Return the part of its text that some of its tokens stand for, from the first of them to the last."""
        text = unicodedata.normalize("NFC", self.text)
        part = text[min(token.span[0] for token in tokens) : max(token.span[1] for token in tokens)]
        return " ".join(part.split())

    def as_said(self, tokens: Sequence[Token]) -> str:
        """Return tokens as they stand in its text where they stand there one behind another, else word by word."""
        if not tokens:
            return ""
        inside = [one for one in self.tokens if tokens[0].span[0] <= one.span[0] < tokens[-1].span[1]]
        return self.words(tokens) if [*tokens] == inside else text_of(tokens)

    @property
    def long(self) -> bool:
        """Whether it is a text, not a statement."""
        return len(self.tokens) > LONG

    @cached_property
    def content(self) -> frozenset[str]:
        """The stems of its words with content."""
        return stems(self.tokens)

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """Its words, in the form in which words are listed."""
        return words(self.tokens)
