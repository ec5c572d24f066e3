"""What a memory is made of: messages become sources, sources become notes, notes carry keywords."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal
from unicodedata import normalize

from memgraph_engine.interface.results import Result
from memgraph_engine.language.dates import spoken_time
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.resources import LANGUAGES
from memgraph_engine.trust import Trust, by_origin, least

SourceKind = Literal["message", "document", "code", "api_result", "item"]
Status = Literal["pending", "active", "superseded", "deleted", "archived"]

READABLE: tuple[Status, ...] = ("active", "pending")
TRUE_ONCE: tuple[Status, ...] = (*READABLE, "superseded")
"""What holds, and what held until it was replaced."""

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""Stands for "not yet": a filtered property always has a value."""
UNKNOWN_PAST = datetime(1, 1, 1, tzinfo=UTC)
"""Stands for "since ever"."""
MOST_KEYWORDS = 32
"""Of a note that has those of all its messages (MemFly, equation 9): a bound for what is repeated for years."""
DEFAULT_POLICY = "factual"
"""The class of what was written before there were policies, and by default of everything since."""

ALONE: tuple[SourceKind, ...] = ("code", "item")
"""Kinds of sources whose notes are compared with no others, and tell no events."""

_WORDS = "\1"  # stands for what was said
_DIGITS = 3  # of a name; what has more is an id

Key = tuple[str, int]
"""What makes one note: the id of a source, and the passage of it, counted from 0."""


@dataclass(frozen=True, slots=True, repr=False)
class Source(Result):
    """What came from outside, verbatim: a message, or a passage of a document.

    `said_at` is UTC, None where no time was given; `said_as` is that time as it was given.
    `session` is '' for a message outside any; `seq` counts from 0 within the session.
    A long message is told by several notes, a passage each. The source of such a note holds the passage `part`, counted
    from 0: `text` is the whole text from the first to the second place of `span`. Otherwise `span` is None.
    `policy`, `expires_at`, `erase_at` and `pinned` are those of its note (`Note`); `policy_as` and `expires_as` are the
    class and the end that it came with, '' and None if it came with none; `policy_by` is the chat model that gave it
    that class, '' for none. Its life counts from `begins_at`. `apart` is the class with which a note of it is kept
    apart from all else, None for none. `trust_as` is the class of trust that a rule or a call gave it, '' for that of
    its kind and role.
    """

    brief = ("id", "span", "speaker", "text")
    derived = ("trust",)

    id: str
    text: str
    hash: str
    kind: SourceKind = "message"
    role: str = ""
    speaker: str = ""
    agent: str = ""
    session: str = ""
    seq: int = 0
    said_at: datetime | None = None
    said_as: str | None = None
    caption: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    part: int = 0
    span: tuple[int, int] | None = None
    policy: str = DEFAULT_POLICY
    expires_at: datetime = NEVER
    erase_at: datetime = NEVER
    pinned: bool = False
    policy_as: str = ""
    policy_by: str = ""
    expires_as: datetime | None = None
    begins_at: datetime | None = None
    apart: str | None = None
    trust_as: Trust | Literal[""] = ""

    @property
    def trust(self) -> Trust:
        """How far it is to be trusted."""
        return self.trust_as or by_origin(self.kind, self.role)

    @property
    def key(self) -> Key:
        """What tells it from all others of its memory."""
        return self.id, self.part


def passage(whole: Source, cuts: Sequence[int], part: int) -> Source:
    """Return a passage of a source that is cut before some of its characters; without cuts that is all of it.

    An image that came with a message belongs to the first passage.

    >>> passage(Source("1", "One two three", ""), [4, 8], 1).text
    'two '
    """
    if not cuts:
        return whole
    start, end = (0, *cuts)[part], (*cuts, len(whole.text))[part]
    caption = "" if part else whole.caption
    return replace(whole, text=whole.text[start:end], caption=caption, part=part, span=(start, end))


def cut_up(whole: Source, cuts: Sequence[int]) -> list[Source]:
    """Return all passages of a source, in order.

    >>> [one.text for one in cut_up(Source("1", "One two three", ""), [4, 8])]
    ['One ', 'two ', 'three']
    """
    return [passage(whole, cuts, part) for part in range(len(cuts) + 1)]


def by_time(source: Source) -> tuple[bool, datetime, str, int, str, int]:
    """Order sources by when they were said; what has no time comes last."""
    return source.said_at is None, source.said_at or UNKNOWN_PAST, source.session, source.seq, *source.key


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


def label(source: Source) -> str:
    """Return how a line calls who speaks: by name, or by the role where the name is an id, as "u-48213" is.

    >>> [label(Source("1", "Hi!", "", speaker=name, role="user")) for name in ("Ana", "u-48213")]
    ['Ana', 'user']
    """
    is_id = sum(map(str.isdigit, source.speaker)) > _DIGITS
    return source.role if source.role and (is_id or not source.speaker) else source.speaker


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


@dataclass(frozen=True, slots=True, repr=False)
class Note(Result):
    """One unit of memory (MemFly, section 3.2, layer 1).

    `raw` holds a rendered line for each source; `context` is the same made self-contained; `text` is the words alone.
    All times are UTC. `said_at` is when it was said, or stored if no time was given. The engine held this version from
    `recorded_at` to `superseded_at`; it is true in the world from `valid_from` to `valid_to`. The year 9999 stands for
    "never", the year 1 for "since ever". `get` and `get_all` fill `keywords`; a search leaves them out.
    Its class is `policy` (docs/lifecycle.md), `policy_as` the one that `Memory.set_policy` gave it, '' for that of its
    sources. It can be read until `expires_at`, and nothing of it is left after `erase_at`; a `pinned` one has no end.
    `apart` is its class if that keeps it apart from all else, None for most.
    A summary `sums` archived notes, by their ids, and has their sources.
    `until` is when it ceased to be true, and `replaced_by` the id of the note that took its place: a later statement of
    the same matter, or a correction. Both are None for a note that is true as far as is known. Of a note with an
    `until`, `former` has the words that ceased to be true; '' means all of it, not none.
    """

    brief = ("id", "status", "until", "replaced_by", "text")
    derived = ("text", "metadata", "restated", "trust")

    id: str
    raw: tuple[str, ...]
    context: str
    status: str
    session: str
    seq: int
    speaker: str
    role: str
    agent: str
    said_at: datetime
    created_at: datetime
    recorded_at: datetime
    superseded_at: datetime
    valid_from: datetime
    valid_to: datetime
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    policy: str = DEFAULT_POLICY
    expires_at: datetime = NEVER
    erase_at: datetime = NEVER
    pinned: bool = False
    policy_as: str = ""
    apart: str | None = None
    sums: tuple[str, ...] = ()
    until: datetime | None = None
    replaced_by: str | None = None
    former: str = ""

    @property
    def text(self) -> str:
        """Its own words: what was said, without speaker, date and the turn before; a line for each rendered source."""
        return "\n".join(words(line, self.sources)[0] for line in self.raw)

    @property
    def restated(self) -> int:
        """How many of its sources say again what the first one said; 0 of a summary, whose sources tell its parts."""
        return 0 if self.sums else max(len(self.sources) - 1, 0)

    @property
    def trust(self) -> Trust:
        """How far it is to be trusted: as the least trusted of its sources is."""
        return least(source.trust for source in self.sources)

    def says(self, words: str) -> bool:
        """Tell whether some words stand in it, blanks aside: it may have been given another text since they did."""
        own, wanted = (" ".join(normalize("NFC", text).split()) for text in ("\n".join(self.raw), words))
        return wanted in own

    @property
    def metadata(self) -> Mapping[str, object]:
        """The metadata of its sources; if several have a key, the value of the one said last."""
        return {key: value for source in self.sources for key, value in source.metadata.items()}


def outdated(note: Note, later: Sequence[tuple[str, datetime, str]]) -> Note:
    """Return a note that says until when it was true, and what took its place.

    `later` are notes that took it, in their order: the id of each, when it was said, and the words of this one whose
    place it took, '' for all. Words that the note no longer has need no end.
    """
    held = [one for one in later if note.says(one[2])]
    by, said, former = next((one for one in held if not one[2]), held[0] if held else (None, NEVER, ""))
    corrected = note.status == "superseded"  # a note says so itself
    until = min(said, note.valid_to) if corrected else said
    if until == NEVER:
        return note
    return replace(note, until=until, replaced_by=by, former="" if corrected else former)


def note_id(scope: str, source: str, part: int = 0) -> str:
    """Return the id of the note that a source, or a later passage of it, makes: always the same."""
    of = f"{scope}\0{source}\0{part}" if part else f"{scope}\0{source}"
    return hashlib.blake2b(of.encode(), digest_size=16).hexdigest()
