"""Phrases that may be keywords, found by word lists and one small grammar.

Each word gets a one-letter class, and phrases are regular expressions over the classes:

    n content word    N capitalised inside a sentence    S capitalised because it opens one
    f function word   F the same, capitalised            o, d connectors inside a name ("of") or phrase ("de")
    w weak word       W the same, capitalised            v the same, opening a sentence
    i interjection    p, P article, possessive, object   , . ! q ; punctuation, q a double quote

where ; is also what is never a keyword: a date, a number, the speaker. The lists are in `config/language/`.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, partial

from memgraph_engine.language.terms import CLOSED, elisions, letter_marks, pattern, word_list

_ABBREVIATED = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St|Sr|Sra|Dra)\.")
_CHUNK = re.compile(r"\S+")
_DOMAIN = re.compile(r"\w\.(?:com|org|net|io|dev)(?!\w)")
_NAME = re.compile(
    r"(?<=q)[FNPSWv][FNPSWvodf]{0,5}[FNSWv](?=[.,!]?q)"  # a quoted title
    r"|(?:[SWv]+[od]?(?=N))?N(?:(?:[odp]{1,2}|[FP])?[NW])*"
)
# "to witness the …", "books guide me": an unlisted verb before its object
_VERB = re.compile(r"(?<!p)n(?=p)")
# Someone addressed by name, "Hey Ann!", "Thanks, Ann.", "Ann, look", but not one of a list of names
_ADDRESSED = re.compile(
    r"(?<=i)[NS](?=[.,!]|$)|(?<=i,)N(?=[.,!]|$)|(?<![NSW],)(?<=,)N(?=[.!]|$)"
    r"|(?:^|(?<=[.!]))[NS](?=!|,(?![NS]))"
)
_CONTRACTION = re.compile(r"'.*")

_KATAKANA, _HAN, _HANGUL = r"\u30a1-\u30fa\u30fc", r"々\u3400-\u4dbf\u4e00-\u9fff", r"\uac00-\ud7a3"
_CJK_PHRASE = re.compile(
    r"[A-Za-z][A-Za-z0-9+#.-]*[A-Za-z0-9+#](?: [A-Z][A-Za-z0-9+#-]+)*"
    rf"|[{_KATAKANA}{_HAN}]{{2,}}|[{_HANGUL}]{{2,}}"
)
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HAN_DATE = re.compile(r"[一二三四五六七八九十百千万数何]+[年月日時分秒週間歳回点号个個人天次岁元円]*[前後后]?")
# Chinese has no spaces: pronouns, particles and the commonest short verbs cut a sentence well enough
_CHINESE_GLUE = re.compile(
    "[一两几每这那][个场次本位件条只张家种些部]"
    "|[我你您他她它们的了着过在是吗呢吧啊和与跟也都就不没很太更又还有去到从给把被让要吃喝听买这那么]"
)
_KOREAN_PARTICLE = re.compile(rf"(?<=[{_HANGUL}]{{2}})(?:에서|으로|에게|은|는|이|가|을|를|에|의|와|과|도|로)$")
_KOREAN_VERB = re.compile(r"(?:[어아해]요|니다|[었았했]다)$")


class _Grammar:
    """What a language's words and endings say about a phrase; without frequent words each long word is one."""

    def __init__(self, language: str) -> None:
        listed = partial(word_list, language)
        frequent = listed("common-words")
        self.function = frequent.union(*map(listed, CLOSED))
        self.interjections, self.objects = listed("interjections"), listed("objects")
        self.weak, self.time = listed("weak-words"), listed("time-words")
        self.content = listed("content-words")  # what the endings below would misjudge
        self.name_links, self.phrase_links = listed("name-links"), listed("phrase-links")
        self.dull = pattern(language, "dull-endings")  # of adverbs and verb forms
        self.alone = pattern(language, "adjective-endings")  # nothing without a noun
        self.before_verb = pattern(language, "before-verbs")
        self.phrase = re.compile("".join(listed("phrases")) or "[nS]")
        self.shortest = 3 if frequent else 6  # letters of a content word


_grammar = cache(_Grammar)


def phrases(text: str, language: str, own: frozenset[str]) -> Iterator[str]:
    """Yield the phrases of `text` in order, repeats too; names as written, the rest in lower case.

    `own` are the words of the speaker's name, case-folded; empty for a text that nobody speaks.

    >>> list(phrases("Thanks, Ann! Our support group met in New York.", "english", frozenset({"bob"})))
    ['support group', 'New York']
    """
    text = _ABBREVIATED.sub(r"\1", _CHUNK.sub(_without_address, unicodedata.normalize("NFC", text)))
    return _cjk_phrases(text) if language == "cjk" else _word_phrases(text, language, own)


def _without_address(chunk: re.Match[str]) -> str:
    written = chunk[0]
    mail = "@" in written[1:-1] and "." in written
    return ";" if mail or "://" in written or "www." in written or _DOMAIN.search(written) else written


def _word_phrases(text: str, language: str, own: frozenset[str]) -> Iterator[str]:
    grammar = _grammar(language)
    words, classes = _classified(text, language, own)
    classes = _VERB.sub("f", classes)
    if own:
        classes = _ADDRESSED.sub(";", classes)
    names = {match.span() for match in _NAME.finditer(classes)}
    named = {place for start, end in names for place in range(start, end)}
    runs = [match.span() for match in grammar.phrase.finditer(classes)]
    runs = [(start, end) for start, end in runs if not named.issuperset(range(start, end))]
    for start, end in sorted([*names, *runs]):
        if (start, end) in names:
            yield " ".join(word for word in words[start:end] if word)
        else:
            yield from _cut(words[start:end], classes[start:end], grammar)


def _cut(words: list[str], classes: str, grammar: _Grammar) -> Iterator[str]:
    """Yield a run's phrases: at most three words, around its head."""
    words = [w if c == "N" else w.lower() for w, c in zip(words, classes, strict=True)]
    if len(words) > 3:
        start = classes.rfind("N") + 1  # a name speaks for itself
        words, classes = words[start:], classes[start:]
    if len(words) > 3:
        words, classes = (words[:3], classes[:3]) if grammar.phrase_links else (words[-3:], classes[-3:])
        if "d" in (classes[0], classes[-1]):
            words = words[:2] if classes[-1] == "d" else words[1:]
    if len(words) == 1 and (len(words[0]) < grammar.shortest or _adjective(words[0], grammar)):
        return
    yield " ".join(words)


def _adjective(word: str, grammar: _Grammar) -> bool:
    return word not in grammar.content and bool(grammar.alone.search(word))


@cache
def _token(language: str) -> re.Pattern[str]:
    inside = r"\w&" + (letter_marks() if language == "standard" else "")
    return re.compile(
        rf"{elisions(language)}|[^\W_][{inside}]*(?:(?:[-'’]|\.(?=[a-z]))[^\W_][{inside}]*)*(?:\+\+|#)?|[^\w\s]|\n"
    )


def _classified(text: str, language: str, own: frozenset[str]) -> tuple[list[str], str]:
    """Return the words and marks of the text, and one letter of class for each."""
    letters = sum(map(str.isalpha, text))
    if letters > 8 and sum(map(str.isupper, text)) > 0.6 * letters:
        text = text.lower()  # shouted: capitals say nothing
    grammar = _grammar(language)
    words: list[str] = []
    classes: list[str] = []
    opens, previous = True, ""
    for token in _token(language).findall(text):
        written = token.replace("’", "'")
        word = re.sub(r"'s?$", "", written)
        if not token[0].isalnum():
            found = _mark(token)
            opens = opens or found in ".!"
        else:
            found = _class(word, grammar, opens=opens, previous=previous)
            if found in "NSF" and word.casefold() in own:
                found = ";"
            opens = False
        words.append(word)
        classes.append(found)
        if word != written:  # the owner and what is owned are two phrases
            words.append("")
            classes.append(";")
        previous = written.casefold()
    pairs = list(zip(words, classes, strict=True))
    names = {word.casefold() for word, found in pairs if found == "N"}
    return words, "".join("N" if c == "S" and word.casefold() in names else c for word, c in pairs)


def _mark(mark: str) -> str:
    if mark in ".…\n":
        return "."
    if mark in '"“”„«»':
        return "q"
    # an emoji ends a sentence as an exclamation mark does
    if mark in "!?" or unicodedata.category(mark) == "So":
        return "!"
    return "," if mark == "," else ";"


def _class(word: str, grammar: _Grammar, *, opens: bool, previous: str) -> str:
    lower = word.casefold()
    forms = {lower, _CONTRACTION.sub("", lower)}
    capital = word[0].isupper()
    if word[0].isdigit() or not forms.isdisjoint(grammar.time):
        return ";"
    for words, classes in (
        (grammar.interjections, "iii"),
        (grammar.objects, "pPp"),
        (grammar.name_links, "off"),
        (grammar.phrase_links, "dff"),
        (grammar.function, "fFf"),
        (grammar.weak, "wWv"),
    ):
        if not forms.isdisjoint(words):
            return classes[capital + (capital and opens)]
    if (capital and not opens) or any(c.isupper() for c in word[1:]):
        return "N"
    dull = lower not in grammar.content and grammar.dull.search(lower)
    if dull or (not capital and grammar.before_verb.search(previous)):
        return "f"
    return "S" if capital else "n"


@cache
def _cjk_dull() -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the words that are no keyword, and a pattern for one written right before a katakana word."""
    dull = word_list("cjk", "weak-words") | word_list("cjk", "time-words")
    return dull, re.compile(rf"(?:{'|'.join(sorted(dull, key=len, reverse=True))})(?=[{_KATAKANA}])")


def _cjk_phrases(text: str) -> Iterator[str]:
    text = unicodedata.normalize("NFKC", text)
    dull, before_katakana = _cjk_dull()
    text = before_katakana.sub("\n", text) if _KANA.search(text) else _CHINESE_GLUE.sub("\n", text)
    english = _grammar("english")
    for found in _CJK_PHRASE.findall(text):
        phrase = _KOREAN_PARTICLE.sub("", found)
        if phrase.isascii():
            lower = phrase.lower()
            skip = lower in english.function or lower in english.weak or lower in english.time
        else:
            skip = phrase in dull or bool(_HAN_DATE.fullmatch(phrase) or _KOREAN_VERB.search(phrase))
        if not skip:
            yield phrase
