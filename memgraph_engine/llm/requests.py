"""What the engine asks chat models: a function for each role, by its name."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from memgraph_engine.llm.answers import (
    MOST_CLAIMS,
    Abstracting,
    Consolidation,
    Describing,
    Evolving,
    Extraction,
    Gating,
    Judging,
    Labelling,
    Merging,
    Number,
    Planning,
    Profiling,
    Response,
    Selecting,
    Sufficiency,
)
from memgraph_engine.llm.prompts import Value
from memgraph_engine.llm.tokens import tokens

R = TypeVar("R", bound=Response)


@dataclass(frozen=True, slots=True)
class Request(Generic[R]):
    """One question to a role: the form of its answer, what goes in, the numbers that the answer must speak of."""

    response: type[R]
    variables: Mapping[str, Value]
    asked: frozenset[Number]

    @property
    def prompt(self) -> str:
        """The prompt's name: that of the role."""
        return self.response.role()


@dataclass(frozen=True, slots=True)
class TextRequest:
    """A question that is answered in free text: the prompt by name, and what goes in."""

    prompt: str
    variables: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said."""

    text: str
    speaker: str = ""
    said_at: datetime | None = None

    @property
    def tokens(self) -> int:
        """About what it takes of a request."""
        return tokens(json.dumps(self.data(0), ensure_ascii=False))

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees; the day of the week helps it to find the date of "last Friday"."""
        said = {"said": f"{self.said_at:%A %Y-%m-%d %H:%M}"} if self.said_at else {}
        who = {"speaker": self.speaker} if self.speaker else {}
        return {"turn": number, **who, **said, "text": self.text}


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note to be and the stored texts that it may repeat, complete or correct."""

    text: str
    candidates: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """About what it takes of a request; each pair is answered with a sentence."""
        return tokens(json.dumps(self.data(0), ensure_ascii=False)) + _PAIR * len(self.candidates)

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        listed = [{"candidate": at, "text": text} for at, text in enumerate(self.candidates, 1)]
        return {"note": number, "text": self.text, "candidates": listed}


@dataclass(frozen=True, slots=True)
class TopicKeywords:
    """A topic without a label: its most central keywords."""

    keywords: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """About what it takes of a request, with the label that is answered."""
        return tokens(json.dumps(self.data(0), ensure_ascii=False)) + _LABEL

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        return {"topic": number, "keywords": list(self.keywords)}


@dataclass(frozen=True, slots=True)
class BlockNote:
    """A note of a block: what it says and who said it, when, and in which session, or file."""

    text: str
    said_at: datetime
    session: str = ""

    @property
    def tokens(self) -> int:
        """About what it takes of a request."""
        return tokens(json.dumps(self.data(0), ensure_ascii=False))

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        where = {"session": self.session} if self.session else {}
        return {"note": number, "said": f"{self.said_at:%Y-%m-%d}", **where, "text": self.text}


@dataclass(frozen=True, slots=True)
class BlockNotes:
    """A block that nobody has described: its most telling notes, oldest first."""

    notes: tuple[BlockNote, ...]

    @property
    def tokens(self) -> int:
        """About what it takes of a request, with the description that is answered."""
        return sum(note.tokens for note in self.notes) + _DESCRIPTION

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        return {"block": number, "notes": [note.data(at) for at, note in enumerate(self.notes, 1)]}


@dataclass(frozen=True, slots=True)
class AbstractedNote:
    """What was said in a note that nobody has read for claims."""

    text: str

    @property
    def tokens(self) -> int:
        """About what it takes of a request, with a claim that is answered."""
        return tokens(json.dumps(self.data(0), ensure_ascii=False)) + _CLAIM

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        return {"note": number, "text": self.text}


_DESCRIPTION = 300  # tokens in which a model describes one block
_LABEL = 20  # tokens in which a model names one topic
_PAIR = 40  # tokens in which a model judges one pair
_CLAIM = 60  # tokens in which a model tells one claim


def extraction(turns: Sequence[Turn], earlier: Sequence[Turn] = ()) -> Request[Extraction]:
    """Ask what to keep of turns, numbered from 1; earlier ones only say what words like "she" refer to.

    >>> sorted(extraction([Turn("Hello."), Turn("I moved to Porto.", "Ana")]).asked)
    [1, 2]
    """
    before = [{**turn.data(0), "turn": "earlier"} for turn in earlier]
    numbered = [turn.data(at) for at, turn in enumerate(turns, 1)]
    return Request(Extraction, {"turns": numbered, "earlier": before}, frozenset(range(1, len(turns) + 1)))


def gating(notes: Sequence[NewNote]) -> Request[Gating]:
    """Ask how new notes, numbered from 1, relate to their candidates, numbered from 1 for each note."""
    numbered = [note.data(at) for at, note in enumerate(notes, 1)]
    pairs = frozenset((n, c) for n, note in enumerate(notes, 1) for c in range(1, len(note.candidates) + 1))
    return Request(Gating, {"notes": numbered}, pairs)


def merging(groups: Sequence[Sequence[str]]) -> Request[Merging]:
    """Ask for one text in place of each group of texts, numbered from 1."""
    numbered: list[dict[str, object]] = [{"merge": at, "texts": list(texts)} for at, texts in enumerate(groups, 1)]
    return Request(Merging, {"merges": numbered}, frozenset(range(1, len(groups) + 1)))


def consolidation(groups: Sequence[Sequence[str]]) -> Request[Consolidation]:
    """Ask for a summary of each group of lines, oldest first; groups are numbered from 1.

    >>> sorted(consolidation([["Ana: I sold the boat."], ["Ana: I moved.", "Ana: I moved to Porto."]]).asked)
    [1, 2]
    """
    numbered: list[dict[str, object]] = [{"group": at, "lines": list(lines)} for at, lines in enumerate(groups, 1)]
    return Request(Consolidation, {"groups": numbered}, frozenset(range(1, len(groups) + 1)))


def profiling(turns: Sequence[Turn], names: Sequence[str]) -> Request[Profiling]:
    """Ask what turns, numbered from 1, tell of who said them; `names` are the attributes that are kept.

    >>> sorted(profiling([Turn("Hello."), Turn("I moved to Porto.", "Ana")], ["residence"]).asked)
    [1, 2]
    """
    numbered = [turn.data(at) for at, turn in enumerate(turns, 1)]
    listed: list[dict[str, object]] = [{"names": list(names)}]
    return Request(Profiling, {"turns": numbered, "names": listed}, frozenset(range(1, len(turns) + 1)))


def evolving(new: str, near: Sequence[tuple[str, Sequence[str]]]) -> Request[Evolving]:
    """Ask what a new note, the number 1, and the notes near it get from each other; these are texts with their tags.

    >>> sorted(evolving("Ana sold the boat.", [("Ana bought a boat.", ["boat"])]).asked)
    [1, 2]
    """
    first: dict[str, object] = {"note": 1, "new": True, "text": new}
    others = [{"note": at, "text": text, "tags": list(tags)} for at, (text, tags) in enumerate(near, 2)]
    return Request(Evolving, {"notes": [first, *others]}, frozenset(range(1, len(near) + 2)))


def labelling(topics: Sequence[TopicKeywords]) -> Request[Labelling]:
    """Ask for a label of each topic, numbered from 1.

    >>> sorted(labelling([TopicKeywords(("sea", "boat")), TopicKeywords(("oven", "flour"))]).asked)
    [1, 2]
    """
    numbered = [topic.data(at) for at, topic in enumerate(topics, 1)]
    return Request(Labelling, {"topics": numbered}, frozenset(range(1, len(topics) + 1)))


def describing(blocks: Sequence[BlockNotes], fields: Sequence[tuple[str, str, str]]) -> Request[Describing]:
    """Ask for the fields of each block, numbered from 1; a field is its name, its type (text or list) and its meaning.

    >>> notes = BlockNotes((BlockNote("Ana: I sold the boat.", datetime(2023, 5, 8)),))
    >>> sorted(describing([notes, notes], [("summary", "text", "What is told.")]).asked)
    [1, 2]
    """
    shape: list[dict[str, object]] = [{"name": name, "type": kind, "meaning": told} for name, kind, told in fields]
    numbered = [block.data(at) for at, block in enumerate(blocks, 1)]
    return Request(Describing, {"fields": shape, "blocks": numbered}, frozenset(range(1, len(blocks) + 1)))


def abstracting(notes: Sequence[AbstractedNote], claims: Sequence[tuple[str, str]]) -> Request[Abstracting]:
    """Ask what notes, numbered from 1, say in general; `claims` are known already, each its relation and its text.

    What is asked about are pairs of a note, and a claim that says the same, 0 for none: at most two claims for a note.

    >>> whales = [AbstractedNote("I read that whales are mammals.")]
    >>> sorted(abstracting(whales, [("is_a", "Whales are animals")]).asked)
    [(1, 0), (1, 1)]
    """
    numbered = [note.data(at) for at, note in enumerate(notes, 1)]
    known: list[dict[str, object]] = [
        {"claim": at, "relation": relation, "text": text} for at, (relation, text) in enumerate(claims, 1)
    ]
    asked = frozenset((note, claim) for note in range(1, len(notes) + 1) for claim in range(len(claims) + 1))
    most = MOST_CLAIMS * len(notes)
    return Request(Abstracting, {"most": most, "claims": known, "notes": numbered}, asked)


def planning(question: str, moment: datetime, turns: Sequence[tuple[str, str]] = ()) -> Request[Planning]:
    """Ask what a question is about, whom and what it names, which days, and what to look for.

    `moment` is the present of the question, `turns` are those before it, each its role and its text.

    >>> planning("Where was Ana last week?", datetime(2023, 5, 10)).asked
    frozenset({1})
    """
    before = [{"role": role or "user", "text": text} for role, text in turns]
    one = {"question": 1, "asked on": f"{moment:%A %Y-%m-%d}", "said before": before, "text": question}
    return Request(Planning, {"questions": [one]}, frozenset({1}))


def sufficiency(question: str, notes: Sequence[str]) -> Request[Sufficiency]:
    """Ask whether notes, best first, answer a question, and what to ask the memory next where they don't.

    >>> sufficiency("Where does Ana live?", ["Ana moved."]).asked
    frozenset({1})
    """
    one: list[dict[str, object]] = [{"question": 1, "text": question, "notes": list(notes)}]
    return Request(Sufficiency, {"questions": one}, frozenset({1}))


def selecting(question: str, notes: Sequence[str], most: int) -> Request[Selecting]:
    """Ask which of notes, numbered from 1 and likeliest first, answer a question: at most so many.

    >>> sorted(selecting("Where does Ana live?", ["Ana moved.", "Ana lives in Porto."], 1).asked)
    [1, 2]
    """
    numbered: list[dict[str, object]] = [{"note": at, "text": text} for at, text in enumerate(notes, 1)]
    variables: dict[str, Value] = {"most": most, "question": [{"question": question}], "notes": numbered}
    return Request(Selecting, variables, frozenset(range(1, len(notes) + 1)))


def answering(question: str, context: str, moment: datetime) -> TextRequest:
    """Ask for the answer to a question from numbered lines of a context; `moment` is the present of the question."""
    asked: list[dict[str, object]] = [{"asked on": f"{moment:%A %Y-%m-%d}", "question": question}]
    return TextRequest("answering", {"question": asked, "notes": context})


def answering_brief(question: str, lines: str) -> TextRequest:
    """Ask for the answer to a question in as few words as possible, from lines of what was said."""
    asked: list[dict[str, object]] = [{"question": question}]
    return TextRequest("answering-brief", {"question": asked, "notes": lines})


def judging(question: str, right: str, given: str) -> Request[Judging]:
    """Ask whether an answer says what the right one says.

    >>> judging("Where does Ana live?", "Lisbon", "In Lisbon.").asked
    frozenset({1})
    """
    one: list[dict[str, object]] = [{"answer": 1, "question": question, "right": right, "given": given}]
    return Request(Judging, {"answers": one}, frozenset({1}))


class _Sized(Protocol):
    @property
    def tokens(self) -> int: ...


S = TypeVar("S", bound=_Sized)


def batches(items: Iterable[S], limit: int) -> Iterator[list[S]]:
    """Split items into requests of at most `limit` tokens, in order; one that is longer has a request of its own.

    >>> [len(batch) for batch in batches([Turn("x" * 300)] * 5, limit=250)]
    [2, 2, 1]
    """
    batch: list[S] = []
    size = 0
    for item in items:
        if batch and size + item.tokens > limit:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item.tokens
    if batch:
        yield batch
