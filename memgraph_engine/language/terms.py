"""Cut text into the tokens that are stored, indexed and asked for, by the scope's language.

Tokens are joined with spaces, indexed by Lucene's whitespace analyser and put into Lucene queries.
So they hold letters, digits and combining marks only, in lower case: no white space, no syntax, no operator.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise

import Stemmer

from memgraph_engine.errors import InvalidInput, SettingsError
from memgraph_engine.forks import lock
from memgraph_engine.resources import LANGUAGES, resource

CLOSED = ("closed-words", "stop-words", "interjections", "question-words", "elisions")
"""Lists of words that tell nothing of what a text is about."""

MAX_TOKEN = 64  # characters; what is longer is base64 or a number run, and its beginning will do
_CACHED_WORDS = 100_000

APOSTROPHES = dict.fromkeys(map(ord, "‘’‛ʼ`´"), "'")
"""For `str.translate`: what is written for an apostrophe."""

_ACCENTS = re.compile(r"[\u0300-\u036f]+")  # of Latin, Greek and Cyrillic; other scripts' marks are part of a letter
_CJK = (
    r"\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CJK_WORDS = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_CJK_RUN = re.compile(rf"[{_CJK}]")
_ENGLISH_WORDS = re.compile(r"[^\W_]+(?:'[a-z]+)?")
_WORDS = re.compile(r"[^\W_]+")
CLAUSES = re.compile(r"[,;:()–—…\n¿¡]+|[.!?？](?=\s|$)")  # what stands between clauses
_ENDS = re.compile(r"(?<=[.!?…;])([\"'”’»)\]]*)\s+|(?<=[。！？])|\n\s*")
# "we'll" and "well" must not meet, so the short verb goes; what is left ("don't", "o'clock") is joined
_JOINT = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_CONTRACTED = re.compile(r"'(?:s|ll|re|ve|d|m)$")


def tokenize(text: str, language: str) -> list[str]:
    """Return the tokens of `text` in order, each 1 to 64 characters without white space or punctuation.

    Raises InvalidInput unless `language` is one of LANGUAGES.

    >>> tokenize("The cats' owner didn't call; she'll move to Zürich.", "english")
    ['cat', 'owner', 'didnt', 'call', 'she', 'move', 'zurich']
    >>> tokenize("Las niñas corrían", "spanish")
    ['niñ', 'corr']
    >>> tokenize("J'ai visité l'école", "french")
    ['visit', 'écol']
    >>> tokenize("京都大学 2023 PyCon", "cjk")
    ['京都', '都大', '大学', '2023', 'pycon']
    """
    try:
        cut = _TOKENIZERS[language]
    except KeyError:
        raise InvalidInput(f"No tokeniser for the language {language!r}; use one of {', '.join(LANGUAGES)}.") from None
    return cut(text)


def tokenize_code(text: str, language: str) -> list[str]:
    """Return the tokens of a piece of code: those of the words that an identifier is made of, and the whole of it.

    So it is found by the words of a question, and by its name.

    >>> tokenize_code("getUserName(user_id)", "english")
    ['get', 'user', 'name', 'getusernam', 'user', 'id', 'userid']
    """
    return tokenize(_IDENTIFIER.sub(lambda found: _spelt(found[0]), text), language)


def spelt(name: str) -> str:
    """Return the words that an identifier is made of.

    >>> spelt("HTTPServer.get_url")
    'HTTP Server get url'
    """
    return " ".join(_PARTS.findall(name))


@lru_cache(_CACHED_WORDS)
def _spelt(name: str) -> str:
    whole = name.replace("_", "")
    words = spelt(name)
    return words if words == whole else f"{words} {whole}"


def spoken(text: str) -> list[str]:
    """Return the words of a text as they are said, in small letters.

    >>> spoken("I’d say it's 9:30"), spoken("J'y suis")
    (["i'd", 'say', "it's", '9', '30'], ["j'", 'y', 'suis'])
    """
    return word_pattern().findall(text.casefold().replace("’", "'"))


@cache
def word_pattern() -> re.Pattern[str]:
    """Return what matches a word as it is said: "I'd" is one, "j'ai" is two, as a language's elisions tell."""
    elided = elisions(*LANGUAGES)
    return re.compile(rf"{elided}|[^\W_]+(?:['’][^\W_]+)*", re.IGNORECASE)


@cache
def written_words(language: str) -> re.Pattern[str]:
    """Return what matches a word, a number or a sign as it is written."""
    number, letter = r"(?:(?<!\w)[.,])?\d+(?:[.,:/-]\d+)*", rf"(?:[^\W\d_]|[{letter_marks()}])"
    return re.compile(rf"{number}|{elisions(language)}|[^\W\d_]{letter}*(?:'[^\W\d_]+)*|\n|[^\w\s]|_")


def elisions(*languages: str) -> str:
    """Return a pattern of the words that are written as one with the next in some languages: "l'" of "l'eau"."""
    every = sorted({one.rstrip("'") for language in languages for one in word_list(language, "elisions")})
    return rf"(?i:(?<![^\W_])(?:{'|'.join(every) or '(?!)'})['’](?=[^\W_]))"


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences and lines of a text, without white space around them; a title ends none.

    >>> sentences('"Dr. Silva called." It rains. See you!', "english")
    ['"Dr. Silva called."', 'It rains.', 'See you!']
    """
    return [text[start:end].strip() for start, end in sentence_spans(text, language)]


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return where the sentences and lines of a text begin and end."""
    spans, begin, short = list[tuple[int, int]](), 0, word_list(language, "abbreviations")
    for match in _ENDS.finditer(text):
        end = match.start() + len(match[1] or "")
        if (
            text[max(begin, end - MAX_TOKEN) : end].rpartition(" ")[2].strip(".\"'“‘(").casefold() not in short
            or "\n" in match[0]
        ):
            spans.append((begin, end))
            begin = match.end()
    return [(start, end) for start, end in (*spans, (begin, len(text))) if text[start:end].strip()]


@cache
def word_list(language: str, *kinds: str) -> frozenset[str]:
    """Return the words of classes in `config/language/{language}/words.toml`; none of a class that it leaves out.

    >>> "the" in word_list("english", "stop-words"), word_list("cjk", "stop-words")
    (True, frozenset())
    """
    return frozenset(word for kind in kinds for word in _classes(language).get(kind, "").split())


@cache
def pattern(language: str, kind: str) -> re.Pattern[str]:
    """Return a pattern of any that a class lists, at the end of what is looked for; of none it matches nothing."""
    return re.compile("|".join(f"(?:{one})$" for one in sorted(word_list(language, kind))) or "(?!)")


@cache
def _classes(language: str) -> Mapping[str, str]:
    """Read the words of a language by class; raises SettingsError for a class that English has not."""
    file = resource("config", "language", language, "words.toml")
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8")
    classes: dict[str, str] = tomllib.loads(text)
    known = classes if language == "english" else _classes("english")
    for kind, words in classes.items():
        if kind not in known or not isinstance(words, str):
            line = next(number for number, one in enumerate(text.splitlines(), 1) if one.startswith(kind))
            raise SettingsError(
                f"{file}, line {line}: {kind!r} is no class of words in a string; english/words.toml has all classes."
            )
    return classes


@cache
def word_values(language: str, kind: str) -> Mapping[str, str]:
    """Return what each word of a list of WORD=VALUE stands for.

    >>> word_values("english", "numbers")["dozen"]
    '12'
    """
    pairs = (entry.partition("=") for entry in word_list(language, kind))
    return {word: value for word, _, value in pairs}


def content(text: str, language: str) -> list[str]:
    """Return a text's terms in their order, without those of closed classes."""
    closed = listed_terms(language, "closed-words")
    return [term for term in tokenize(text, language) if term not in closed]


def content_terms(text: str, language: str) -> frozenset[str]:
    """Return the distinct terms of a text that tell what it is about; "5pm" is 5 and pm.

    >>> sorted(content_terms("We meet at the 5pm train", "english"))
    ['5', 'meet', 'pm', 'train']
    """
    return frozenset(tokenize(_JOINT.sub(" ", text), language)) - closed_terms(language)


@cache
def closed_terms(language: str) -> frozenset[str]:
    """Return the terms that tell nothing of what a text is about; none of a language without lists.

    >>> sorted(closed_terms("english") & {"what", "the", "boat"})
    ['what']
    """
    return listed_terms(language, *CLOSED)


@cache
def common_terms(language: str) -> frozenset[str]:
    """Return the terms that so many texts have that they tell hardly anything."""
    return listed_terms(language, "common-words")


@cache
def asking_terms(language: str) -> frozenset[str]:
    """Return the terms that make a text a question: "what", "did"."""
    return listed_terms(language, "question-words")


@cache
def listed_terms(language: str, *kinds: str) -> frozenset[str]:
    """Return the terms of all words of these lists.

    >>> sorted(listed_terms("english", "question-words") & {"what", "boat"})
    ['what']
    """
    return frozenset(term for word in word_list(language, *kinds) for term in tokenize(word, language))


def places(words: Sequence[str], phrase: str) -> frozenset[int]:
    """Return where the words of a listed phrase stand among others; "~" is for any words between.

    >>> sorted(places(["i", "don't", "run", "any", "more"], "don't~any_more"))
    [1, 3, 4]
    """
    if "_" not in phrase and "~" not in phrase:  # most are one word, and all are looked for in every line
        return frozenset([words.index(phrase)] if phrase in words else [])
    found: list[int] = []
    for part in (tuple(part.split("_")) for part in phrase.split("~")):
        starts = range(found[-1] + 1 if found else 0, len(words))
        start = next((at for at in starts if words[at] == part[0] and tuple(words[at : at + len(part)]) == part), None)
        if start is None:
            return frozenset()
        found += range(start, start + len(part))
    return frozenset(found)


@cache
def letter_marks() -> str:
    """Return the combining marks, for a character class of `re`."""
    return "".join(c for c in map(chr, range(0x10000)) if unicodedata.category(c) in ("Mn", "Mc"))


def _english(text: str) -> list[str]:
    if text.isascii():
        folded = text.lower().replace("`", "'")
    else:
        folded = unicodedata.normalize("NFKD", text.translate(APOSTROPHES)).lower()
        folded = unicodedata.normalize("NFC", _ACCENTS.sub("", folded))
    stems = _stems("english")
    return [token for word in _ENGLISH_WORDS.findall(folded) if (token := stems[word])]


def _stemmed(language: str, text: str) -> list[str]:
    stems = _stems(language)
    # Snowball knows endings with their accents ("-ción", "-ía"); it folds them itself afterwards
    return [token for word in _WORDS.findall(_fold(text)) if (token := stems[word])]


def _cjk(text: str) -> list[str]:
    tokens: list[str] = []
    for word in _CJK_WORDS.findall(_fold(text)):
        if len(word) > 1 and _CJK_RUN.match(word):
            tokens.extend(a + b for a, b in pairwise(word))
        else:
            tokens.append(word[:MAX_TOKEN])
    return tokens


def _standard(text: str) -> list[str]:
    words = _WORDS if text.isascii() else _marked_words()
    return [word[:MAX_TOKEN] for word in words.findall(_fold(text))]


DEFAULT_LANGUAGE = "english"
_TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    **{language: partial(_stemmed, language) for language in LANGUAGES},
    DEFAULT_LANGUAGE: _english,
    "cjk": _cjk,
    "standard": _standard,
}


def are_terms(text: str) -> bool:
    r"""Tell whether a text is tokens with a space between any two, as they are stored and indexed; '' is none of them.

    >>> are_terms("cat owner"), are_terms(""), are_terms("cat\towner"), are_terms("cat (owner)")
    (True, True, False, False)
    """
    return not text or _terms().fullmatch(text) is not None


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text.translate(APOSTROPHES)).casefold()
    return unicodedata.normalize("NFC", folded)  # folding may decompose: "ΐ"


@cache
def _marked_words() -> re.Pattern[str]:
    """Words with combining marks inside: the vowel signs of Hindi or Thai are no letters to `re`."""
    return re.compile(rf"[^\W_](?:[^\W_]|[{letter_marks()}])*")


@cache
def _terms() -> re.Pattern[str]:
    token = rf"(?:[^\W_]|[{letter_marks()}]){{1,{MAX_TOKEN}}}"
    return re.compile(f"{token}(?: {token})*")


class _Stems(dict[str, str]):
    """Word → stem, '' for a stop word; stems what it has not seen, and starts over when it grows large."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stop_words = word_list(language, "stop-words")
        self._stemmer = Stemmer.Stemmer(language, 0)
        self._lock = lock()  # a stemmer has one buffer, so two threads must not share a call

    def __missing__(self, word: str) -> str:
        plain = _CONTRACTED.sub("", word).replace("'", "")[:MAX_TOKEN]
        with self._lock:
            stem: str = "" if plain in self._stop_words else self._stemmer.stemWord(plain)
            if len(self) >= _CACHED_WORDS:
                self.clear()
            if len(word) <= MAX_TOKEN:
                self[word] = stem
        return stem


_stems = cache(_Stems)
