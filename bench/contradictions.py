"""Turn a fact into others that contradict it: negation, number, date or name exchanged. Deterministic."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_RELATIVE = {
    "last": "next",
    "next": "last",
    "yesterday": "tomorrow",
    "tomorrow": "yesterday",
    "today": "yesterday",
}
_NAMES = ("Oliver", "Ingrid", "Norway", "Lisbon", "Atlas")
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|should|does|did)\b(?! not)(?!n't)")
_NOT = re.compile(r"(?:(?<=\w)n't\b| (?:not|never|no longer)\b)")
_SHORT = {"can": "can't", "will": "won't"}
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DIGITS = re.compile(r"(?<![\w:.#])\d+(?![\w:]|\.\d)")
_UNIT = r"(?= (?:week|month|year|night|summer|winter|spring|fall|weekend|monday|tuesday|wednesday|thursday|friday))"
# words with a capital inside a sentence, but for the acronyms and the adjectives of peoples
_CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b(?!')")


@dataclass(frozen=True, slots=True)
class Edit:
    """A contradiction of a fact: what was changed, and the changed text."""

    kind: str
    text: str


def edits(text: str, speaker: str, other: str) -> Iterator[Edit]:
    """Yield at most one contradiction of each kind; `speaker` states the fact and `other` takes part as well.

    >>> [edit.text for edit in edits("Ana adopted two cats in May.", "Ana", "Bob")]
    ['Ana never adopted two cats in May.', 'Ana adopted three cats in May.', 'Ana adopted two cats in June.', \
'Bob adopted two cats in May.']
    """
    for kind, changed in (
        ("negation", _negated(text, speaker)),
        ("number", _numbered(text)),
        ("date", _dated(text)),
        ("name", _exchanged(text, speaker, other)),
        ("name", _renamed(text, (speaker, other))),
    ):
        if changed and changed != text:
            yield Edit(kind, changed)


def _negated(text: str, speaker: str) -> str:
    """Take the first negation away, else put one in: in full or contracted, "never" or "no longer", by the length."""
    if _NOT.search(text):
        return _NOT.sub("", text, count=1)
    even = len(text) % 2 == 0
    head, _, rest = text.partition(" ")
    if head == speaker and not _VERB.match(rest) and not rest.startswith(("and ", "used to ")):
        return f"{head} {'never' if even else 'no longer'} {rest}"
    return _VERB.sub(lambda m: f"{m[0]} not" if even else _SHORT.get(m[0], f"{m[0]}n't"), text, count=1)


def _numbered(text: str) -> str:
    if found := next((m for m in _DIGITS.finditer(text) if not _YEAR.fullmatch(m[0])), None):
        return f"{text[: found.start()]}{int(found[0]) + 1}{text[found.end() :]}"
    return _next_of(text, _NUMBERS)


def _dated(text: str) -> str:
    for words in (_MONTHS, _DAYS):
        if changed := _next_of(text, words):
            return changed
    if year := _YEAR.search(text):
        return f"{text[: year.start()]}{int(year[0]) + 1}{text[year.end() :]}"
    for word, opposite in _RELATIVE.items():
        unit = _UNIT if word in ("last", "next") else ""
        changed = re.sub(rf"\b{word}\b{unit}", opposite, text, count=1, flags=re.IGNORECASE)
        if changed != text:
            return changed
    return ""


def _next_of(text: str, words: list[str]) -> str:
    """Replace the first of the words in the text by the one after it."""
    found = re.search(rf"\b(?:{'|'.join(words)})\b", text)
    if not found:
        return ""
    return f"{text[: found.start()]}{words[(words.index(found[0]) + 1) % len(words)]}{text[found.end() :]}"


def _exchanged(text: str, speaker: str, other: str) -> str:
    """Let the other person be the one the fact is about."""
    swap = {speaker: other, other: speaker}
    return re.sub(rf"\b(?:{re.escape(speaker)}|{re.escape(other)})\b", lambda m: swap[m[0]], text)


def _renamed(text: str, people: tuple[str, str]) -> str:
    """Put another name in the place of the first that is neither person's, nor a date's."""
    for found in _CAPITAL.finditer(text):
        if found[0] not in (*people, *_MONTHS, *_DAYS, "The"):
            name = _NAMES[len(text) % len(_NAMES)]
            return f"{text[: found.start()]}{name}{text[found.end() :]}"
    return ""
