"""How a language says dates: words and patterns of `config/language/{language}/dates.toml`."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from memgraph_engine.resources import resource

_TABLE = re.compile(r"(?<!P)<(\w+)>")
_WORDS = re.compile(r"\w+")
_FOUR_DIGITS = re.compile(r"\d{4}")
_CJK = re.compile(r"[日天月年周週星礼昨前后後夜晚朝今明おモ그어오내모지이다전년월]")
_NEVER = "(?!)"
_SURROUNDINGS = 40  # characters that guards look at
_EVERYWHERE = {
    "iso": [r"(?<![\w./:-])(?P<year>[12]\d{3})-(?P<month>\d\d)-<day>(?![\w/-]|\.\w)"],
    "numeric": [r"(?<![\w./:-])(?P<one>\d{1,2})(?P<mark>[/.])(?P<other>\d{1,2})(?P=mark)<year>(?![\w/-]|\.\w)"],
}
_NUMBERS = {"day": r"(?P<day>[0-3]?\d)", "year": r"(?P<year>[12]\d{3})"}
# each table of words, and where a list of them begins to count
_TABLES = {"month": 1, "number": 1, "weekday": 0, "season": 0, "unit": 0, "period": 0, "which": 0, "fixed": 0}
Value = int | str


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that is said like a date: its place in the text, its kind, and what its words mean."""

    start: int
    end: int
    kind: str
    means: Mapping[str, Value]
    certain: bool

    def number(self, name: str) -> int:
        """Return what is meant by a word that counts."""
        return int(self.means[name])

    def word(self, name: str) -> str:
        """Return what is meant by any other word."""
        return str(self.means[name])


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one language says dates."""

    triggers: frozenset[str]
    patterns: tuple[tuple[str, re.Pattern[str]], ...]
    meanings: Mapping[str, Mapping[str, Value]]
    not_after: re.Pattern[str]
    not_before: re.Pattern[str]
    not_last_after: re.Pattern[str]
    recurring: re.Pattern[str]
    day_first: bool

    def may_match(self, text: str) -> bool:
        """Say cheaply whether a text may name a date at all: most do not."""
        if _FOUR_DIGITS.search(text):
            return True
        if not self.triggers:
            return _CJK.search(text) is not None
        return not self.triggers.isdisjoint(_WORDS.findall(text.lower()))

    def phrases(self, text: str) -> Iterator[Phrase]:
        """Yield every match of every pattern; they may overlap."""
        for kind, pattern in self.patterns:
            for match in pattern.finditer(text):
                yield self._read(text, kind, match)

    def _read(self, text: str, kind: str, match: re.Match[str]) -> Phrase:
        means = {name: self._meaning(name, said) for name, said in match.groupdict().items() if said}
        before = text[max(0, match.start() - _SURROUNDINGS) : match.start()]
        after = text[match.end() : match.end() + _SURROUNDINGS]
        certain = not (self.not_after.search(before) or self.not_before.match(after))
        if "which" in means:
            certain = certain and not self.not_last_after.search(before)
        if (kind == "date" and "year" not in means) or (kind == "weekday" and "which" not in means):
            certain = certain and not (self.recurring.search(before) or self.recurring.search(after))
        return Phrase(match.start(), match.end(), kind, means, certain)

    def _meaning(self, name: str, said: str) -> Value:
        words = self.meanings.get(name)
        folded = _folded(said)
        if words and folded in words:
            return words[folded]
        return int(said) if said.isdecimal() else said


@cache
def dates_file(language: str) -> Mapping[str, Any]:
    """Return what is listed of a language's dates; nothing for one that has no file."""
    path = resource("config", "language", language, "dates.toml")
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@cache
def grammar(language: str) -> Grammar:
    """Return the grammar of a language; one that has none knows dates in digits only."""
    given = dates_file(language)
    tables = {name: dict(_alternatives(given[name], start)) for name, start in _TABLES.items() if given.get(name)}
    words = {name: f"(?P<{name}>{_any(table)})" for name, table in tables.items()} | _NUMBERS
    if "number" in tables:
        words["number"] = rf"(?P<number>\d{{1,3}}|{_any(tables['number'])})"
    given_patterns: dict[str, list[str]] = given.get("patterns", {})
    patterns = [(kind, one) for kind, some in (given_patterns | _EVERYWHERE).items() for one in some]
    # nearly every date has a word of one of these tables
    named = (map(str.lower, tables.get(name, ())) for name in ("month", "weekday", "season", "unit"))
    return Grammar(
        triggers=frozenset(given["triggers"].split()).union(*named) if "triggers" in given else frozenset(),
        patterns=tuple((kind, _compiled(one, words)) for kind, one in patterns),
        meanings={name: {_folded(word): value for word, value in table.items()} for name, table in tables.items()},
        not_after=_compiled(given.get("not_after", _NEVER), words),
        not_before=_compiled(given.get("not_before", _NEVER), {}),
        not_last_after=_compiled(given.get("not_last_after", _NEVER), {}),
        recurring=_compiled(given.get("recurring", _NEVER), {}),
        day_first=given.get("day_first", False),
    )


def _alternatives(table: str | Mapping[str, str], start: int) -> Iterator[tuple[str, Value]]:
    """Yield each word and its meaning: its place in a list, counted from `start`, else its key."""
    if isinstance(table, str):
        for place, words in enumerate(table.split(), start):
            yield from ((word, place) for word in words.split("|"))
    else:
        for value, words in table.items():
            yield from ((word, value) for word in words.split("|"))


def _any(words: Iterable[str]) -> str:
    """Match any of the words, the longest first; one with a capital only as it is written, or all in capitals."""
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(w if w.islower() or not w.isascii() else f"(?-i:{w}|{w.upper()})" for w in longest_first)


def _compiled(pattern: str, words: Mapping[str, str]) -> re.Pattern[str]:
    filled = _TABLE.sub(lambda table: words[table[1]], pattern)
    return re.compile(filled.replace(" ", r"\s{1,3}"), re.IGNORECASE)


def _folded(said: str) -> str:
    return " ".join(said.lower().split())
