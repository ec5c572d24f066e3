"""How a note reads in a context: an entry, which is shortened where it has no room.

It has the lines that its message had, since code and lists are nothing without them. All but the first stand behind a
margin, so that only an entry begins at the beginning of a line.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from memgraph_engine.answer.facts import Fact, Remark
from memgraph_engine.language.terms import closed_terms, sentence_spans, spoken, tokenize
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.model.marker import BLANK, NUMBERED, as_line, seen, without_marks
from memgraph_engine.model.memory import Note, Source, by_time
from memgraph_engine.model.text import personal
from memgraph_engine.rendering.context import render, told, written

_GAP = "…"
_GAP_TOKENS = most_tokens(_GAP)
_ENDLESS = 40  # characters: what is longer is no word
_MARGIN = "  "
_MOST_INDENT = 40  # characters
_FENCE = "```"
_PARTS = re.compile(r"\s*(?:[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+)")
_INDEX = re.compile(rf"(?<![A-Za-z0-9_)\]]){NUMBERED.pattern}")  # in code "row[2]" cites nothing
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # whatever the locale
_MOST_DAYS = 4
_SHORT = 5  # words: so few say little without the question that they answer
_ASKED, _MAY_ASK = re.compile(r"[?？]\]$"), re.compile(r"[?？]|…\]$")  # what is cut may have asked

Place = tuple[str, int]
"""A session, and a turn in it; of a message outside any session its own id."""


def places(note: Note) -> list[Place]:
    """Return the places of a note's sources; the passages of a long message are at one place."""
    return [(source.session or f"\0{source.id}", source.seq) for source in note.sources]


def head(number: int, fact: Fact, numbers: Mapping[str, str] | None = None) -> str:
    """Return what stands in front of a note's text: its number, days and remarks; without `numbers` at its longest.

    Where a remark says that another note took its place, and `numbers` has that one's, it says this in fewer tokens.
    More than four days are told by the first and the last, and so are those of a summary.
    """
    days = [f"{day:%Y-%m-%d} ({_WEEKDAYS[day.weekday()]})" for day in fact.days]
    said = (
        f"{days[0]} to {days[-1]}"
        if fact.note.sums and len(days) > 1
        else " and ".join(days)
        if len(days) <= _MOST_DAYS
        else f"{len(days)} times from {days[0]} to {days[-1]}"
    )
    some = (Remark(*map(as_line, one._replace(by="")))._replace(by=one.by) for one in fact.remarks)
    remarks = "; ".join(filter(None, (one.shown(numbers) for one in some)))
    known = " ".join(part for part in (said, remarks and f"({remarks})") if part)
    return f"[{number}] {known}: " if known else f"[{number}] "


def text(note: Note, language: str) -> tuple[str, str]:
    """Return a note's text, in the lines that it has, and of a few words the question that they answer, else ''.

    The head has its date, unless its parts were said on several days. Of one speaker, what reads the same says the
    same: the same words, of the same days.
    """
    before = note.context.removeprefix(render([(source, None) for source in note.sources], language).context)
    if before == note.context:  # a chat model or the user wrote it
        return _lined(note.context), ""
    own, once = " ".join(source.text for source in note.sources), _once(note.sources, language)
    short, asked = len(spoken(own)) <= _SHORT, _ASKED if personal("", own) else _MAY_ASK  # "I only wear black."
    days = {source.said_as[:10] for source in once if source.said_as}
    said = render([(source, None) for source in once], language, dated=len(days) > 1).context
    return _lined(said), f" {as_line(before)}" if short and asked.search(before) else ""


def _once(sources: Sequence[Source], language: str) -> list[Source]:
    """Return of sources that say the same words of the same days the last one: the head tells when each was said."""
    kept: dict[object, Source] = {}
    for source in sorted(sources, key=by_time):
        said = tuple(spoken(written(source)))
        kept[source.speaker, said, tuple((event.start, event.end) for event in told(source, language))] = source
    return list(kept.values())


def _lined(text: str) -> str:
    """Return a text in its lines, those behind the first one indented, in which nothing passes for a mark or a number.

    Signs that nobody sees are left out, and lines of nothing else. Between fences an index stays ("row[2]"): it looks
    like no citation.
    """
    lines = [line for line in seen(text).expandtabs(4).splitlines() if line.strip(BLANK)]
    kept = [" " * min(len(line) - len(line.lstrip()), _MOST_INDENT) + " ".join(line.split()) for line in lines]
    parts = without_marks(f"\n{_MARGIN}".join(kept).strip()).split(_FENCE)
    told = ((_INDEX if at % 2 else NUMBERED).sub(r"(\1)", part) for at, part in enumerate(parts))
    return _FENCE.join(told)


def shortened(text: str, limit: int, question: str, language: str) -> str:
    """Return the part of a text that has room in `limit` tokens: the sentences with most of the question's terms.

    They stand in their order and lines, with dots for what is left out; of a single sentence its beginning. '' if there
    is no room for anything.

    >>> said = "What a day we had in May. She told me of what she sails. What a week. We ate."
    >>> shortened(said, 18, "What boat do I sail?", "english")
    '… She told me of what she sails. … We ate.'
    """
    if most_tokens(text) <= limit:
        return text
    spans = [(0, 0), *sentence_spans(text, language)]
    # each sentence and line behind the white space before it
    sentences = [(text[before:start], text[start:end]) for (_, before), (start, end) in pairwise(spans)]
    wanted = {*tokenize(question, language)} - closed_terms(language)
    found = [len(wanted.intersection(tokenize(sentence, language))) for _, sentence in sentences]
    chosen: set[int] = set()
    room = limit - _GAP_TOKENS
    for at in sorted(range(len(sentences)), key=lambda at: -found[at]):
        beside = sum(0 <= other < len(sentences) and other not in chosen for other in (at - 1, at + 1))
        gap, sentence = sentences[at]
        taken = most_tokens(gap + sentence) + (beside - 1) * _GAP_TOKENS  # it stands where there was one gap
        if taken <= room:
            chosen.add(at)
            room -= taken
        elif not chosen:
            return _beginning(sentence, limit)
    return _joined(sentences, chosen)


def _joined(sentences: Sequence[tuple[str, str]], chosen: Collection[int]) -> str:
    at = [-1, *sorted(chosen), len(sentences)]
    parts = []
    for last, here in pairwise(at):
        parts += [f" {_GAP}"] if here > last + 1 else []
        if here < len(sentences):
            gap, sentence = sentences[here]
            parts += [gap if gap or here == last + 1 else " ", sentence]
    return "".join(parts).strip()


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
