"""Cut a document or a long message into passages: at paragraphs, then sentences; nothing of it is lost.

A Markdown document is cut at headings before all else. These are found by markdown-it-py, which knows fences,
underlined headings and HTML where a few lines of ours would not; it comes with rich.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt

from memgraph_engine.model.marker import own
from memgraph_engine.model.memory import Source, cut_up

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = ("fence", "code_block")
_WORD = re.compile(r"\w")
# Ends of units, from the coarsest; what no sentence or word ends is cut at the limit
_UNITS = tuple(
    re.compile(rf".*?(?:{end}|\Z)", re.DOTALL)
    for end in (r"\n[ \t]*\n\s*?(?=\S|[ \t]+\S)", r"\n", r"[.!?…][\"'”’)]*\s+|[。！？]+[」』]*", r"\s+")
)


@dataclass(frozen=True)
class _Section:
    above: tuple[str, ...]  # the headings over it, outermost first
    path: tuple[str, ...]  # the same with its own
    text: str


def passages(text: str, limit: int, *, markdown: bool = False) -> Iterator[str]:
    r"""Yield passages of at most `limit` characters (200 or more), in order.

    A Markdown passage opens with the headings it stands under, joined with " > "; comments are no part of it.

    >>> list(passages("# Guide\n\n## Install\n\nUse pip.", 200, markdown=True))
    ['# Guide\n\n## Install\n\nUse pip.']
    >>> list(passages("# Guide\nHello.\n## Use\nType help.", 200, markdown=True))
    ['# Guide\nHello.', 'Guide\n\n## Use\nType help.']
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _without_gaps(_without_comments(text) if markdown else text)
    for section in _sections(text) if markdown else (_Section((), (), text),):
        first, later = _front(section.above, limit), _front(section.path, limit)
        for n, body in enumerate(_packed(section.text, limit - max(len(first), len(later)))):
            yield (later if n else first) + body


def cuts(text: str, limit: int) -> list[int]:
    """Return before which characters of a message its passages begin, but for the first.

    A passage has at most `limit` characters, besides what is marked as recalled, which is never cut, and blanks at its
    ends. So a message of no more than that has none.

    >>> cuts("The ferry left. The sea was calm. We saw a heron.", 30)
    [16, 34]
    """
    if len(text) <= limit:
        return []
    parts = [(start, end) for start, end in own(text) if end > start]
    said = "".join(text[start:end] for start, end in parts)
    begins = [0, *accumulate(end - start for start, end in parts)]
    found = []
    for start, end in _slices(said.rstrip(), limit):
        if said[:start].strip() and said[start:end].strip():
            at = bisect_right(begins, start) - 1
            found.append(parts[at][0] + start - begins[at])
    return found


def of_message(source: Source, limit: int) -> list[Source]:
    """Return the passages of a message; of one within the limit that is the message itself."""
    return cut_up(source, cuts(source.text, limit))


def _without_comments(text: str) -> str:
    """Leave out what a page does not show: HTML comments, but not those that code quotes."""
    if "<!--" not in text:
        return text
    tokens = MarkdownIt().parse(text)
    code = {line for token in tokens if token.type in _CODE and token.map for line in range(*token.map)}
    quoted = "\n".join(one.content for token in tokens for one in token.children or () if one.type == "code_inline")
    begins = [0, *(found.end() for found in re.finditer("\n", text))]

    def shown(comment: re.Match[str]) -> str:
        is_code = bisect_right(begins, comment.start()) - 1 in code or " ".join(comment[0].split("\n")) in quoted
        return comment[0] if is_code else ""

    return _COMMENT.sub(shown, text)


def _without_gaps(text: str) -> str:
    """Leave one blank line where there are several: they say nothing, and looking through thousands takes long."""
    lines = [line if line.strip() else "" for line in text.split("\n")]
    return "\n".join(line for before, line in pairwise(["x", *lines]) if line or before)


def _front(path: tuple[str, ...], limit: int) -> str:
    joined = " > ".join(path)
    return f"{joined[-limit // 4 :]}\n\n" if joined else ""


def _sections(text: str) -> Iterator[_Section]:
    """Yield what stands under each heading, with it; a heading with no word under it joins the next."""
    lines = text.split("\n")
    path: list[tuple[int, str]] = []
    above: tuple[str, ...] = ()
    start, body = 0, 0
    for level, title, first, last in [*_headings(text), (0, "", len(lines), len(lines))]:
        if any(_WORD.search(line) for line in lines[body:first]):
            yield _Section(above, _titles(path), "\n".join(lines[start:first]))
            start = first
        path = [(depth, name) for depth, name in path if depth < level]
        if start == first:
            above = _titles(path)
        path.append((level, title))
        body = last
    if any(line.strip() for line in lines[start:]):
        yield _Section(above, above, "\n".join(lines[start:]))


def _titles(path: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(name for _, name in path if name)


def _headings(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield each heading's level, title, first line and the line after it."""
    tokens = MarkdownIt().parse(text)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            yield int(token.tag[1:]), inline.content, token.map[0], token.map[1]


def _packed(text: str, limit: int) -> Iterator[str]:
    for start, end in _slices(text, limit):
        if text[start:end].strip():
            # the first line's indent is part of a list or of code
            yield re.sub(r"\A(?:[ \t]*\n)+", "", text[start:end]).rstrip()


def _slices(text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Join units, as they stand in the text, to passages as long as the limit allows; yield where each stands."""
    start = end = 0
    for unit in _cut(text, limit, 0):
        if end > start and end - start + len(unit.rstrip()) > limit:
            yield start, end
            start = end
        end += len(unit)
    yield start, end


def _cut(text: str, limit: int, depth: int) -> Iterator[str]:
    if len(text.rstrip()) <= limit:
        yield text
    elif depth == len(_UNITS):
        yield from (text[n : n + limit] for n in range(0, len(text), limit))
    else:
        for unit in _UNITS[depth].findall(text):
            yield from _cut(unit, limit, depth + 1)
