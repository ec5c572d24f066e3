"""A note's two texts, made of its sources and the turns before them: the deterministic context.

An embedder reads the beginning of a text, and a long text's vector is near to little. So a note's own words stand in
front, and the turn before is clipped (docs/benchmarks-appendix.md has what others find).
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

from memgraph_engine.language.dates import Event, events, resolved
from memgraph_engine.language.terms import spelt, tokenize, tokenize_code
from memgraph_engine.model.code import MODULE, described, name_of
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import ALONE, Key, Source, by_time, line

_BEFORE = 200  # characters of the turns before
_WHOLE = (
    1000  # characters that they fill up at most: well under the embedders' limits, of which the lowest is 256 tokens
)
_LEAST = 40  # characters: less tells nothing
_GAP = " …"


@dataclass(frozen=True, slots=True)
class Text:
    """What was said, a line for each source, and the same made self-contained."""

    raw: tuple[str, ...]
    context: str

    @property
    def spoken(self) -> str:
        """All lines of `raw`."""
        return "\n".join(self.raw)


def render(turns: Sequence[tuple[Source, Source | None]], language: str, *, dated: bool = True) -> Text:
    """Render a note's sources, each with the turn before it.

    The context says behind the text which days its relative dates mean, and repeats the beginning of the turn before,
    unless it is one of the note's own. Before a later passage of a long message that is the passage before it. What is
    only said again, of the same days, adds nothing. Unless it is `dated`, it leaves out when it was said.

    >>> first = Source("1", "Where were you?", "", speaker="Bo")
    >>> second = Source("2", "I sailed yesterday.", "", speaker="Ana", said_as="2023-05-08")
    >>> render([(second, first)], "english").context
    'Ana: I sailed yesterday. [yesterday: 7 May, 2023] (8 May, 2023) [before: Bo: Where were you?]'
    """
    own = {source.key for source, _ in turns}
    parts: dict[str, None] = {}
    before: dict[Key, Source] = {}
    raw: dict[tuple[str, str, tuple[tuple[datetime, datetime], ...]], str] = {}
    for source, previous in sorted(turns, key=lambda turn: by_time(turn[0])):
        named = told(source, language)
        if source.kind == "code":
            raw[source.id, source.text, ()] = source.text.strip("\n")
            parts[of_code(source)] = None
            continue
        saying = source.speaker or source.role, written(source), tuple((event.start, event.end) for event in named)
        if saying in raw:
            continue
        raw[saying] = line(source, language)
        if previous and previous.key not in own:
            before[previous.key] = previous
        text = resolved(without_recalled(source.text), named)
        parts[line(replace(source, text=text, said_as=source.said_as if dated else None), language)] = None
    context = " ".join(parts)
    for previous in before.values():
        room = min(_BEFORE, _WHOLE - len(context))
        if room >= _LEAST:
            context += f" [before: {_clipped(line(replace(previous, said_as=None), language), room)}]"
    return Text(tuple(raw.values()), context)


def of_code(source: Source) -> str:
    r"""Return a piece of code made self-contained: behind where it stands, in words, and what its file is for.

    >>> known = {"code": {"about": "Keeps users.", "signature": "def save(self)"}}
    >>> of_code(Source("app/models.py::User.save", "def save(self): ...", "", kind="code", session="app/models.py",
    ...     metadata=known))
    'app/models.py, User.save (User save): Keeps users.\ndef save(self): ...'
    """
    known, name = described(source), name_of(source)
    words = spelt(name) if name != MODULE else ""
    place = ", ".join(filter(None, (source.session, f"{name} ({words})" if words else "")))
    head = ": ".join(filter(None, (place, str(known.get("about") or ""))))
    signature = str(known.get("signature") or "") if source.part else ""
    return "\n".join(filter(None, (head, signature, source.text.strip("\n"))))


def terms(text: str, sources: Sequence[Source], language: str) -> list[str]:
    """Return the terms of a text of a note with these sources; those of code know identifiers."""
    is_code = bool(sources) and all(source.kind == "code" for source in sources)
    return tokenize_code(text, language) if is_code else tokenize(text, language)


def _clipped(said: str, room: int) -> str:
    """Return the beginning of a line, cut between words."""
    if len(said) <= room:
        return said
    return (said[:room].rpartition(" ")[0] or said[:room]) + _GAP


def written(source: Source) -> str:
    """Return the words of a source as they are written: of two that differ in no more than blanks, one is enough.

    >>> source = Source("1", "It's  -5 °C, brr!", "", caption="a lake")
    >>> written(source)
    "It's -5 °C, brr! a lake"
    """
    return " ".join(unicodedata.normalize("NFC", f"{without_recalled(source.text)} {source.caption}").split())


def told(source: Source, language: str) -> tuple[Event, ...]:
    """Return the dates that a source names, by the day on which it was said; none without one, or of code and items."""
    if source.kind in ALONE:
        return ()
    return events(without_recalled(source.text), said(source), language)


def said(source: Source) -> datetime | None:
    """Return when it was said, in the zone whose days it means: the one that was given, else that in which it was read.

    >>> read = Source("1", "", "", said_as="2024-07-10", said_at=datetime.fromisoformat("2024-07-09T22:00:00Z"))
    >>> str(said(read))
    '2024-07-10 00:00:00+02:00'
    """
    if source.said_as is None:
        return source.said_at
    own = datetime.fromisoformat(source.said_as)
    if own.tzinfo or not source.said_at:
        return own
    ahead = own.replace(tzinfo=UTC) - source.said_at
    return own.replace(tzinfo=timezone(ahead)) if abs(ahead) < timedelta(days=1) else source.said_at
