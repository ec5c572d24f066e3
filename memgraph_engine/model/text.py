"""How a source reads as a line: speaker in front, date behind, in the words of its language."""

import re
from collections.abc import Sequence
from dataclasses import replace

from memgraph_engine.language.dates import spoken_time
from memgraph_engine.language.questions import is_question, of_oneself
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import Source
from memgraph_engine.resources import LANGUAGES

_SAID = re.compile(r"(?:[^:\n]{1,60}: )?(.*?)(?: \[[^\]]*\])*(?: \([^()]*\))?", re.DOTALL)
_WORDS = "\1"  # stands for what was said
_DIGITS = 3  # of a name; what has more is an id


def line(source: Source, language: str) -> str:
    """Render a source as one line of a note's raw text; what was recalled is no news, and left out.

    The date is spelt in words, since that is how questions name it.

    >>> line(Source("1", "I moved.", "", speaker="Ana", said_as="2023-05-08T13:56:00"), "english")
    'Ana: I moved. (1:56 pm on 8 May, 2023)'
    """
    who = label(source)
    parts = [f"{who}:"] if who else []
    if text := without_recalled(source.text).strip():
        parts.append(text)
    if source.caption:
        parts.append(f"[image: {source.caption}]")
    if source.said_as:
        parts.append(f"({spoken_time(source.said_as, language)})")
    return " ".join(parts)


def asks(line: str) -> bool:
    """Tell whether a rendered line ends with a question; what stands in brackets behind it is no part of what was said.

    >>> [asks(line) for line in ("Ana: Where were you? (8 May, 2023)", "Ana: Guess! (8 May, 2023)")]
    [True, False]
    """
    return is_question(said(line))


def personal(role: str, *lines: str) -> bool:
    """Tell whether somebody but an assistant speaks of himself in rendered lines, in any listed language.

    >>> [personal("", line) for line in ("Ana: My cat is grey. (8 May, 2023)", "Ana: ideas for a gift (8 May, 2023)")]
    [True, False]
    """
    return role != "assistant" and any(of_oneself(said(line)) for line in lines)


def said(line: str) -> str:
    """Return a rendered line without who said it and when."""
    match = _SAID.fullmatch(line)
    return match[1] if match else line


def words(raw: str, sources: Sequence[Source]) -> tuple[str, Source | None]:
    """Return the words of a line of a note's raw text, and whose line it is: what `line` puts around them is taken off.

    A line that is of none of the sources is all words.

    >>> said = Source("1", "I moved.", "", speaker="Ana", said_as="2023-05-08T13:56:00")
    >>> words("Ana: I moved to Porto. (1:56 pm on 8 May, 2023)", [said])[0]
    'I moved to Porto.'
    """
    _, told, _, source = parted(raw, sources)
    return told, source


def parted(raw: str, sources: Sequence[Source]) -> tuple[str, str, str, Source | None]:
    """Return what stands before the words of a line, the words, what stands behind them, and whose line it is.

    >>> parted("Ana: I moved to Porto.", [Source("1", "I moved.", "", speaker="Ana")])[:3]
    ('Ana: ', 'I moved to Porto.', '')
    """
    found: tuple[int, str, str, str, Source | None] = (-1, "", raw, "", None)
    for source in sources:
        for language in LANGUAGES:
            before, _, behind = line(replace(source, text=_WORDS), language).partition(_WORDS)
            around = len(before) + len(behind)
            if found[0] < around <= len(raw) and raw.startswith(before) and raw.endswith(behind):
                found = around, before, raw[len(before) : len(raw) - len(behind)], behind, source
                break  # no two languages write one time alike
    return found[1:]


def label(source: Source) -> str:
    """Return how a line calls who speaks: by name, or by the role where the name is an id, as "u-48213" is.

    >>> [label(Source("1", "Hi!", "", speaker=name, role="user")) for name in ("Ana", "u-48213")]
    ['Ana', 'user']
    """
    is_id = sum(map(str.isdigit, source.speaker)) > _DIGITS
    return source.role if source.role and (is_id or not source.speaker) else source.speaker
