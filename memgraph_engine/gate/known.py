"""A note as it is compared: what was said, told from its sources; what is read in a line, is read once."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from memgraph_engine.language.reading import Reading
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.terms import content_terms
from memgraph_engine.language.wording import EXCLAIMED, Token, parted, phrases_in, taken_back, words
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import DEFAULT_POLICY, NEVER, Source
from memgraph_engine.rendering.context import said, told, written
from memgraph_engine.trust import Trust

FEW = 4  # words with content of a line that says nothing but what was wrong and what is right
STAR = "*"


class Line(Reading):
    """One thing said, as a source holds it; `speaker` is '' where a user wrote the text of a note of several.

    `message` is the id of the long message that it is a passage of, '' for none.
    """

    def __init__(self, source: Source, language: str) -> None:
        super().__init__(without_recalled(source.text), language, source.speaker or source.role)
        self._source = source
        self.message = source.id if source.span else ""
        self.role = source.role
        self.said_at = said(source)
        self.caption = source.caption

    @cached_property
    def reports(self) -> bool:
        """Whether it tells of its own speaker by name, as of another one: "Ana is looking for a boat."."""
        called = any(token.capital and token.written in self.speaker_names for token in self.tokens)
        return called and bool(self._source.speaker) and self.lists.first_person.isdisjoint(self.forms)

    @cached_property
    def written(self) -> str:
        """The words as they are written."""
        return written(self._source)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The distinct stems of its words with content."""
        return content_terms(f"{self.text} {self.caption}", self.language)

    @cached_property
    def stated(self) -> tuple[Token, ...]:
        """Its wording without questions, unless no more is left than an exclamation, and without "Well, …"."""
        said = tuple(token for token in self.tokens if not token.asked)
        said = said if len(said) > EXCLAIMED else self.tokens
        idle, lengths = self.lists.idle - self.lists.negations, Counter(token.clause for token in said)
        return tuple(one for one in said if lengths[one.clause] > 1 or one.word not in idle) or said

    @cached_property
    def telling(self) -> list[Token]:
        """Its wording, as `stated`, without exclamations: "Wow, Ana!", "Hey Bo, …", but "Freya, my daughter, sings"."""
        lengths = Counter(token.clause for token in self.stated)
        content = Counter(token.clause for token in self.stated if token.stem)
        mine = {token.clause for token in self.stated if token.word in self.lists.mine}
        told = mine | {clause for clause in lengths if lengths[clause] > EXCLAIMED or content[clause] > 1}
        return [token for token in self.stated if token.clause in told]

    @cached_property
    def sentences(self) -> Sequence[Sequence[Token]]:
        """Its wording, as `stated`, sentence by sentence."""
        return parted(self.stated, "sentence")

    @cached_property
    def announces(self) -> bool:
        """Whether it has a phrase that may take a statement back: most have none."""
        return bool(phrases_in(self.forms, self.lists.denials))

    @cached_property
    def tells(self) -> bool:
        """Whether it may tell a change: it has a word of one, or of a feeling, or takes a value back ("8, not 7")."""
        back = any(taken_back(self.tokens, self.lists))
        return back or bool(self.changes) or bool(phrases_in(self.forms, frozenset(self.lists.attitudes)))

    @cached_property
    def changes(self) -> frozenset[str]:
        """The words of change in it."""
        return frozenset(phrases_in(self.forms, self.lists.changing))

    @cached_property
    def editing(self) -> Mapping[str, frozenset[int]]:
        """The editing terms in it, and where they are: also the star with which one marks a repair in a chat."""
        star = self._star
        return {STAR: frozenset([star])} if star is not None else phrases_in(self.forms, frozenset(self.lists.edits))

    @property
    def _star(self) -> int | None:
        """Where a star stands in front of a line or behind it, right beside its word: else it is a bullet.

        One on either side tells what somebody does ("*sighs*").
        """
        if len(self.tokens) < 2:
            return None
        (first, after), (before, last) = self.tokens[:2], self.tokens[-2:]
        opens = first.written == STAR and first.span[1] == after.span[0]
        ends = last.written == STAR and before.span[1] == last.span[0] and len(self.content) <= FEW
        return None if opens == ends else 0 if opens else len(self.tokens) - 1

    @cached_property
    def denies(self) -> bool:
        """Whether it says little, and has a negation: it may name a word that was wrong ("6, not 5")."""
        return len(self.content) <= FEW and not self.lists.negations.isdisjoint(self.forms)

    @cached_property
    def objects(self) -> bool:
        """Whether it begins with a negation that is a clause of its own: "Oh no, Thursday."."""
        first = words(token for token in self.tokens if token.clause == self.tokens[0].clause)
        told = [word for word in first if word not in self.lists.interjections - self.lists.negations]
        return bool(told) and len(first) < len(self.tokens) and self.lists.negations.issuperset(told)

    @cached_property
    def days(self) -> frozenset[tuple[datetime, datetime]]:
        """The times that it names, by when it was said."""
        zone = self.said_at.tzinfo if self.said_at else None
        named = told(self._source, self.language)
        return frozenset((event.start.astimezone(zone), event.end.astimezone(zone)) for event in named)

    def behind(self, other: "Line") -> int:
        """Count the messages by which this was said after another one in their session; 0 if it was not."""
        new, old = self._source, other._source
        return max(new.seq - old.seq, 0) if new.session == old.session != "" else 0

    @property
    def asks(self) -> bool:
        """Whether something is asked in it."""
        return any(token.asked for token in self.tokens)

    def awaits(self, days: Collection[tuple[datetime, datetime]]) -> bool:
        """Tell whether all of some times were still to come when this was said; False where that is not known."""
        return self.said_at is not None and all(start.date() >= self.said_at.date() for start, _ in days)


@dataclass(frozen=True, slots=True)
class Known:
    """A note: its lines, keywords (by key) and when it was said.

    `answers` tells that the turn before it asks, and `asked` that it asks for a value. `reach` counts the messages that
    it may come after what it puts right.
    `ended` is the note that tells a change of it, and when that was said; `gone` that this has replaced it. `policy` is
    its class, `ends` when it can be read no more, `trust` how far it is trusted. A `summary` tells of much: it is
    joined by nothing, and not replaced for one line of it.
    """

    id: str
    context: str
    lines: tuple[Line, ...]
    keywords: frozenset[str]
    said_at: datetime | None
    answers: bool = False
    asked: bool = False
    reach: int = 0
    ended: tuple[str, datetime] | None = None
    policy: str = DEFAULT_POLICY
    ends: datetime = NEVER
    summary: bool = False
    gone: bool = False
    trust: Trust = "user"

    @property
    def terms(self) -> frozenset[str]:
        """The terms of all lines."""
        return self.lines[0].terms if len(self.lines) == 1 else frozenset().union(*(line.terms for line in self.lines))


def same_speaker(one: Line, other: Line) -> bool | None:
    """Tell whether two lines are of one person; None if that can't be told.

    "I moved" is another fact from another mouth. A line that nobody speaks is about whom it names, but is no
    assistant's: what that says is its own.
    """
    if (one.role == "assistant") != (other.role == "assistant"):
        return False
    speakers = one.speaker.casefold(), other.speaker.casefold()
    if all(speakers):
        return speakers[0] == speakers[1]
    text = (one if not speakers[0] else other).text.casefold()
    return True if any(speakers) and max(speakers) in text else None


def only(line: Line) -> Statement | None:
    """Return what a line states, if that is one thing and nothing else is said; None if anything would be left."""
    if line.long or line.caption or len(stated := statements(line)) != 1:
        return None
    (one,) = stated
    left = [token for token in line.tokens if token not in one.own]
    return one if line.lists.idle.issuperset(words(left)) and not any(token.asked for token in left) else None
