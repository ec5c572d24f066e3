"""Words where they stand, and the word lists by which facts are read off them.

The lists are in `config/language/`. Their entries are words in lower case, with `_` between the words of a phrase
and `=` before a value. English and Spanish have them; in other languages only digits are read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, cached_property
from itertools import chain, groupby
from typing import Any, NamedTuple

from memgraph_engine.language import APOSTROPHES, LISTED, tokenize, word_list

_COMMON = ("function-words", "interjections", "weak-words", "time-words")
_TOKEN = re.compile(
    r"(?<![\w.,)])[-−]\d+(?:[.,]\d+)*|\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?|[^\W\d_]+(?:['-][^\W\d_]+)*|[^\w\s]|\n"
)
ENDS = frozenset(".!?…\n")


@dataclass(frozen=True)
class Lists:
    """A language's words, as `config/language/` has them."""

    negations: frozenset[str] = frozenset()
    no_negations: frozenset[str] = frozenset()
    clause_words: frozenset[str] = frozenset()
    corrections: frozenset[str] = frozenset()
    first_person: frozenset[str] = frozenset()
    light_words: frozenset[str] = frozenset()  # neither affirmed nor denied, and no verb of interest
    interjections: frozenset[str] = frozenset()
    stop_words: frozenset[str] = frozenset()
    pronouns: frozenset[str] = frozenset()
    determiners: frozenset[str] = frozenset()
    indefinite: frozenset[str] = frozenset()  # with these a noun is somebody or something, not the one known
    residence: frozenset[str] = frozenset()  # verbs: who lives where
    locatives: frozenset[str] = frozenset()
    moves: frozenset[str] = frozenset()  # phrases behind which a place stands that one lives at from then on
    hedges: frozenset[str] = frozenset()  # with these a sentence states less than a plain fact, or of something else
    prepositions: frozenset[str] = frozenset()
    adverbs: frozenset[str] = frozenset()
    time_words: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()  # never a name
    numbers: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    tenses: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """How many words the longest phrase has that begins with a word; most words begin none."""
        phrases = (self.negations, self.no_negations, self.corrections, self.tenses)
        found: dict[str, int] = {}
        for phrase in chain.from_iterable(phrases):
            first = phrase.partition("_")[0]
            found[first] = max(found.get(first, 0), phrase.count("_") + 1)
        return found

    def phrase_at(self, words: Sequence["Word"], place: int, known: frozenset[str] | Mapping[str, str]) -> str:
        """Return the longest phrase of one of these lists that begins here, or ''."""
        if place >= len(words):
            return ""
        for length in range(self.longest.get(words[place].lower, 0), 0, -1):
            phrase = "_".join([word.lower for word in words[place : place + length]])
            if phrase in known:
                return phrase
        return ""


@cache
def lists_of(language: str) -> Lists:
    """Return a language's lists; empty ones for a language that has none."""
    if language not in LISTED:
        return Lists()
    given: dict[str, Any] = {}
    for one in fields(Lists):
        if one.name == "common":
            common = (word_list(language, kind) for kind in _COMMON)
            given[one.name] = frozenset().union(*common)
        elif one.default is MISSING:
            given[one.name] = _values(language, one.name)
        else:
            given[one.name] = word_list(language, one.name.replace("_", "-"))
    return Lists(**given)


@cache
def function_terms(language: str) -> frozenset[str]:
    """Return the terms of a language's words of grammar; none for a language without a list."""
    listed = word_list(language, "function-words")
    return frozenset(term for word in listed for term in tokenize(word, language))


@cache
def correcting(language: str) -> re.Pattern[str]:
    """Return what finds a phrase that announces a correction, in lower case and with plain apostrophes.

    `Lists.phrase_at` finds the same in the words: this is for the many texts that hold none, which need not be cut.
    """
    phrases = [re.escape(phrase).replace("_", r"\s+") for phrase in lists_of(language).corrections]
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(phrases)})(?![\w'-])" if phrases else r"(?!)")


@cache
def _values(language: str, kind: str) -> Mapping[str, str]:
    pairs = (entry.partition("=") for entry in word_list(language, kind))
    return {word: value for word, _, value in pairs}


class Word(NamedTuple):
    """A word where it stands: `lower` for lists, `opens` if it begins a sentence, `asked` if that is a question."""

    written: str
    lower: str
    opens: bool
    asked: bool


def words_of(text: str) -> Iterator[Word]:
    """Yield the words and marks of a text, apostrophes made plain."""
    tokens = _TOKEN.findall(text.translate(APOSTROPHES))
    ends = [place for place, token in enumerate(tokens) if token in ENDS] + [len(tokens)]
    opens, end = True, 0
    for place, token in enumerate(tokens):
        while ends[end] < place:
            end += 1
        asked = ends[end] < len(tokens) and tokens[ends[end]] == "?"
        yield Word(token, token.casefold(), opens, asked)
        opens = token in ENDS or (opens and not token[0].isalnum())


def sentences_of(text: str) -> list[list[Word]]:
    """Return the words and marks of each sentence, without those that end it.

    >>> [[word.written for word in sentence] for sentence in sentences_of("It's late. Bye!")]
    [["It's", 'late'], ['Bye']]
    """
    groups = groupby(words_of(text), key=lambda word: word.lower in ENDS)
    return [list(sentence) for ends, sentence in groups if not ends]
