"""Find secrets in a text: keys, passwords that are said to be ones, card numbers, private keys.

A key has a form that its maker gave it, or looks drawn by lot behind a word for one. A password is named as such, and
is no word: "the password is wrong" names none. A card's number has its check digit. What is found is covered, and the
cover is no secret.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import log2

from memgraph_engine.resources import resource

_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)", re.S
)
_CARD = re.compile(
    r"(?<![\w.+-])(?<!\d )(?:\d{13,19}|\d{4}(?:([ -])\d{4})(?:\1\d{4}){2}|3\d{3}([ -])\d{6}\2\d{5})(?![\w-]| \d)"
)
_ISSUED = re.compile(r"4|5[1-5]|2[2-7]|3[4-7]|3[08]|6[05]|62")
_IN_ADDRESS = re.compile(r"(?<=://)([^\s:/@]{0,64}):([^\s/@]{3,128})@(?=[\w.\[-])")
_DRAWN = re.compile(r"[A-Za-z0-9][\w+/~:-]{15,}=*")
_BETWEEN = r"[^\n]{0,40}?"  # of a word for a key and the key
_RANDOM = 3.0  # bits for each sign, from which letters and figures look drawn by lot
_LETTERS = 4  # in what is drawn by lot, at least: a time has fewer
_FIGURES = 0.2  # share of figures in what is drawn by lot, at least, unless it has capitals
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_STRONG = re.compile(
    r"(?![\w.]*[(\[])(?=\S*[^\W\d_])(?=\S*(?:\d|[!@#$%^&*+=?~]\w))[^\s\"'`<>\[\](){}]{6,64}"  # no call
)
_PHRASE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){3,23}(?!\w)")
_WORD_LIKE = re.compile(r"[a-z]{8}|[A-Z]_[A-Z]|://")
_ENDS = ".,;:!?"
_SHORT = 4  # letters of a word that may stand in a password by chance

_Pattern = re.Pattern[str]
Found = tuple[int, int, str]
"""Where a secret begins and ends, and what it is."""


def masked(text: str) -> str:
    """Return a text with its secrets covered; the same text if it has none.

    >>> masked("My password is hunter2, and the password of Bo is wrong.")
    'My password is [masked password], and the password of Bo is wrong.'
    >>> masked("Pay with 4111 1111 1111 1111; the order is 4111 1111 1111 1112.")
    'Pay with [masked card number]; the order is 4111 1111 1111 1112.'
    """
    parts, at = list[str](), 0
    for start, end, kind in secrets(text):
        parts += [text[at:start], f"[masked {kind}]"]
        at = end
    return "".join((*parts, text[at:]))


def secrets(text: str) -> list[Found]:
    """Return the secrets in a text, in order, none within another."""
    found, at = list[Found](), 0
    for one in sorted(_every(text), key=lambda one: (one[0], -one[1])):
        if one[0] >= at:
            found.append(one)
            at = one[1]
    return found


def _every(text: str) -> Iterator[Found]:
    keys, behind, words, named, first = _patterns()
    for kind, matches in (("private key", _BLOCK.finditer(text)), ("key", keys.finditer(text))):
        yield from ((*match.span(), kind) for match in matches)
    yield from ((*match.span(), "card number") for match in _CARD.finditer(text) if _is_card(match[0]))
    addresses = (match for match in _IN_ADDRESS.finditer(text) if _STRONG.fullmatch(match[2]))
    yield from ((*match.span(2), "password") for match in addresses)
    for match in behind.finditer(text):
        key = _DRAWN.match(text, match.end())
        if key and _is_drawn(key[0]):
            yield *key.span(), "key"
    for way, value in named:
        for match in way.finditer(text):
            told = value.match(text, match.end())
            if told and not words.search(told[0]):  # "your_password" stands for one
                yield told.start(), told.start() + len(told[0].rstrip(_ENDS)), "password"
    for match in first.finditer(text):
        if _STRONG.fullmatch(match[1]):
            yield *match.span(1), "password"


def _is_card(written: str) -> bool:
    """Tell whether figures are a card's number, by who issues such and by the check digit (Luhn)."""
    figures = [int(one) for one in written if one.isdigit()]
    doubled = [2 * one - 9 * (one > 4) for one in figures[-2::-2]]
    return bool(_ISSUED.match(written)) and (sum(figures[-1::-2]) + sum(doubled)) % 10 == 0


def _is_drawn(text: str) -> bool:
    """Tell whether letters and figures look drawn by lot, not like a name in code: "input_cost_above_128k_tokens"."""
    figures = sum(one.isdigit() for one in text) / len(text)
    mixed = figures > 0 and text != text.lower() and not _WORD_LIKE.search(text)
    share = (count / len(text) for count in Counter(text).values())
    drawn = (figures >= _FIGURES and "://" not in text) or mixed
    entropy = -sum(one * log2(one) for one in share)
    return drawn and sum(map(str.isalpha, text)) >= _LETTERS and entropy >= _RANDOM


@cache
def _patterns() -> tuple[_Pattern, _Pattern, _Pattern, Sequence[tuple[_Pattern, _Pattern]], _Pattern]:
    """Return what finds keys by their forms, words for keys, words for passwords with these, and passwords before."""
    lists = tomllib.loads(resource("config", "language", "secrets.toml").read_text("utf-8"))
    keys = re.compile(rf"(?<![\w-])(?:{'|'.join(lists['keys'])})(?![\w-])")
    behind = re.compile(rf"(?:{_any(lists['key_words'])}){_BETWEEN}(?<![\w+/.-])(?=[A-Za-z0-9][\w+/~:-]{{15}})", re.I)
    words, joins = _any(lists["password_words"]), _any(lists["is"])
    of = rf"(?: (?:{_any(lists['of'])})(?: [^\W\d_]+){{1,2}})?"
    ways = rf"{of}[\"' ]*[:=][\"' ]*", rf"{of},? ?(?:{joins}) ", " "
    named = [(re.compile(rf"(?<![^\W_])(?:{words}){way}", re.I), _STRONG) for way in ways]
    named.append((re.compile(rf"(?<!\w)(?:{_any(lists['phrases'])}) ?[:=] ?", re.I), _PHRASE))
    first = re.compile(rf"(?<!\S)(\S{{6,64}}?),? (?:{_any(lists['as'])}) (?:{words})(?!\w)", re.I)
    long = re.compile(_any(one for one in lists["password_words"] if len(one) > _SHORT), re.I)
    return keys, behind, long, named, first


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=lambda one: -len(one))))
