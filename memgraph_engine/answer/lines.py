"""How a note reads in a context: one line, which is shortened where it has no room."""

import re
from bisect import bisect_right
from collections.abc import Collection, Container, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from memgraph_engine.answer.facts import Fact, Remark
from memgraph_engine.answer.places import Place, before, places
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.model.marker import without_marks
from memgraph_engine.model.memory import Source, by_time
from memgraph_engine.rendering import render, told, written

_GAP = "…"
_GAP_TOKENS = most_tokens(_GAP)
_ENDLESS = 40  # characters: what is longer is no word
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_PARTS = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+)")
_WORDS = re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"[\[［【〔⟦](\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*)[\]］】〕⟧]")
_MOST_DAYS = 4
_SHORT = 5  # words: so few say little without the question that they answer


def head(number: int, fact: Fact, numbers: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return what stands in front of a note's text: its number, days and remarks.

    Where a remark says that another note took its place, and `numbers` has that one's, it says this in fewer tokens.
    More than four days are told by the first and the last, and so are those of a summary.
    """
    days = [f"{day:%Y-%m-%d}" for day in fact.days]
    said = (
        f"{days[0]} to {days[-1]}"
        if fact.note.sums and len(days) > 1
        else " and ".join(days)
        if len(days) <= _MOST_DAYS
        else f"{len(days)} times from {days[0]} to {days[-1]}"
    )
    some = (Remark(*map(_unmarked, one._replace(by="")))._replace(by=one.by) for one in fact.remarks)
    remarks = f"({'; '.join(one.shown(numbers) for one in some)})" if fact.remarks else ""
    known = " ".join(part for part in (said, remarks) if part)
    return f"[{number}] {known}: " if known else f"[{number}] "


def text(fact: Fact, told: Container[Place], language: str) -> str:
    """Return a note's text as one line.

    The head has its date, unless its parts were said on several days. The turn before is there where it is a question
    that the note answers in a few words, and no other note of the context has it: what the context tells is at the
    places `told`.
    """
    note = fact.note
    own = [(source, None) for source in note.sources]
    whole = render(own, language).context
    if note.context.startswith(whole):  # else a chat model or the user wrote it
        asked = note.context.removeprefix(whole).endswith(("?]", "？]"))
        short = len(_WORDS.findall(" ".join(source.text for source in note.sources))) <= _SHORT
        needed = asked and short and any(before(place) not in told for place in places(note))
        once = _once(note.sources, language)
        days = {source.said_as[:10] for source in once if source.said_as}
        said = render([(source, None) for source in once], language, dated=len(days) > 1).context
        line = said + note.context.removeprefix(whole) if needed else said
    else:
        line = note.context
    return _unmarked(line)


def _once(sources: Sequence[Source], language: str) -> list[Source]:
    """Return of sources that say the same words of the same days the last one: the head tells when each was said."""
    kept: dict[object, Source] = {}
    for source in sorted(sources, key=by_time):
        said = tuple(_WORDS.findall(written(source).casefold()))
        kept[source.speaker, said, tuple((event.start, event.end) for event in told(source, language))] = source
    return list(kept.values())


def _unmarked(line: str) -> str:
    """Return a text as one line in which nothing passes for a mark or a number of the context."""
    return _NUMBERED.sub(r"(\1)", without_marks(" ".join(line.split())))


def shortened(line: str, limit: int, wanted: Collection[str]) -> str:
    """Return the part of a text that has room in `limit` tokens: the sentences with most of the wanted words.

    They stand in their order, with dots for what is left out; of a single sentence its beginning. '' if there is no
    room for anything.

    >>> shortened("Ana came. She sat down. She told me of Porto, at last. We ate.", 16, {"porto"})
    '… She told me of Porto, at last. …'
    """
    if most_tokens(line) <= limit:
        return line
    sentences = [one for one in _SENTENCES.split(line) if one]
    best = sorted(range(len(sentences)), key=lambda at: (-_wanted(sentences[at], wanted), at))
    chosen: set[int] = set()
    room = limit - _GAP_TOKENS
    for at in best:
        beside = sum(0 <= other < len(sentences) and other not in chosen for other in (at - 1, at + 1))
        taken = most_tokens(sentences[at]) + (beside - 1) * _GAP_TOKENS  # it stands where there was one gap
        if taken <= room:
            chosen.add(at)
            room -= taken
        elif not chosen:
            return _beginning(sentences[at], limit)
    return _joined(sentences, chosen)


def _wanted(sentence: str, wanted: Collection[str]) -> int:
    found = {word.casefold() for word in _WORDS.findall(sentence)}
    return sum(word in found or (not word.isascii() and word in sentence) for word in wanted)


def words(question: str) -> frozenset[str]:
    """Return the words of a question that a sentence may hold too; of three letters and more, in ASCII.

    >>> sorted(words("Where did Ana go in 2023?"))
    ['2023', 'ana', 'did', 'where']
    """
    found = (word.casefold() for word in _WORDS.findall(question))
    return frozenset(word for word in found if len(word) > 2 or not word.isascii())


def _joined(sentences: list[str], chosen: Collection[int]) -> str:
    at = [-1, *sorted(chosen), len(sentences)]
    parts = []
    for last, here in pairwise(at):
        parts += [_GAP] if here > last + 1 else []
        parts += [sentences[here]] if here < len(sentences) else []
    return " ".join(parts)


def _beginning(sentence: str, limit: int) -> str:
    """Return the words at the beginning that have room, with dots behind; an endless word is cut."""
    room, kept = limit - _GAP_TOKENS, list[str]()
    for part in _PARTS.findall(sentence):
        taken = most_tokens(part)
        if taken > room:
            if len(part) > _ENDLESS:
                fitting = bisect_right(range(len(part)), room, key=lambda length: most_tokens(part[:length]))
                kept.append(part[: fitting - 1])
            break
        kept.append(part)
        room -= taken
    begin = "".join(kept).strip()
    return f"{begin} {_GAP}" if begin else ""
