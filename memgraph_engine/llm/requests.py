"""What the engine asks chat models: a function for each role, by its name."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Generic, Protocol, TypeVar

from memgraph_engine.llm.answers import (
    MOST_CLAIMS,
    AbstractedClaim,
    ConsolidatedNotes,
    DescribedBlock,
    EvolvedNote,
    ExtractedTurn,
    GatedPair,
    Item,
    JudgedAnswer,
    LabelledTopic,
    MergedText,
    Number,
    Part,
    PlannedQuestion,
    ProfiledTurn,
    QuestionSufficiency,
    check_claims,
    check_each,
    check_kept,
    form,
)
from memgraph_engine.llm.prompts import Value
from memgraph_engine.llm.tokens import tokens

A = TypeVar("A")
E = TypeVar("E", bound=Item)


@dataclass(frozen=True, slots=True)
class TextRequest:
    """A question that is answered in free text: the prompt by name, and what goes in."""

    prompt: str
    variables: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Request(TextRequest, Generic[A]):
    """A question that is answered by items: the numbers that they must speak of, and the answer's form."""

    asked: frozenset[Number]
    check: Callable[[Sequence[A], frozenset[Number]], None]
    form: type[Part]


class Shown(ABC):
    """What a model is shown under a number."""

    __slots__ = ()
    answer: ClassVar[int] = 0
    """Tokens of a request that are kept for what is answered."""

    @property
    def tokens(self) -> int:
        """About what it takes of a request, with what is answered."""
        return tokens(json.dumps(self.data(0), ensure_ascii=False)) + self.answer

    @abstractmethod
    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""


@dataclass(frozen=True, slots=True)
class Turn(Shown):
    """Something that was said."""

    text: str
    speaker: str = ""
    said_at: datetime | None = None

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees; the day of the week helps it to find the date of "last Friday"."""
        said = {"said": f"{self.said_at:%A %Y-%m-%d %H:%M}"} if self.said_at else {}
        who = {"speaker": self.speaker} if self.speaker else {}
        return {"turn": number, **who, **said, "text": self.text}


@dataclass(frozen=True, slots=True)
class NewNote(Shown):
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
class TopicKeywords(Shown):
    """A topic without a label: its most central keywords."""

    answer = 20  # tokens in which a model names one topic
    keywords: tuple[str, ...]

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        return {"topic": number, "keywords": list(self.keywords)}


@dataclass(frozen=True, slots=True)
class BlockNote(Shown):
    """A note of a block: what it says and who said it, when, and in which session, or file."""

    text: str
    said_at: datetime
    session: str = ""

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        where = {"session": self.session} if self.session else {}
        return {"note": number, "said": f"{self.said_at:%Y-%m-%d}", **where, "text": self.text}


@dataclass(frozen=True, slots=True)
class BlockNotes(Shown):
    """A block that nobody has described: its most telling notes, oldest first."""

    notes: tuple[BlockNote, ...]

    @property
    def tokens(self) -> int:
        """About what it takes of a request, with the description that is answered."""
        return sum(note.tokens for note in self.notes) + _DESCRIPTION

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        return {"block": number, "notes": _shown(self.notes)}


@dataclass(frozen=True, slots=True)
class AbstractedNote(Shown):
    """What was said in a note that nobody has read for claims."""

    answer = 60  # tokens in which a model tells one claim
    text: str

    def data(self, number: int) -> dict[str, object]:
        """Return what a model sees."""
        return {"note": number, "text": self.text}


_DESCRIPTION = 300  # tokens in which a model describes one block
_PAIR = 40  # tokens in which a model judges one pair


def _shown(items: Iterable[Shown]) -> list[dict[str, object]]:
    return [item.data(at) for at, item in enumerate(items, 1)]


def _each(role: str, item: type[E], entries: Iterable[Mapping[str, object]], **more: Value) -> Request[E]:
    """Ask about each of several, numbered from 1: all of them and the number of one are named as in the answer.

    >>> request = _each("merging", MergedText, [{"texts": ["Ana lives in Porto."]}])
    >>> request.variables, request.asked
    ({'merges': [{'merge': 1, 'texts': ['Ana lives in Porto.']}]}, frozenset({1}))
    """
    numbered = [{item.one(): at, **entry} for at, entry in enumerate(entries, 1)]
    asked = frozenset[Number](range(1, len(numbered) + 1))
    variables = {item.several: numbered, **more}
    return Request(role, variables, asked, check_each, form(item.several, item))


def extraction(turns: Sequence[Turn], earlier: Sequence[Turn] = ()) -> Request[ExtractedTurn]:
    """Ask what to keep of turns, numbered from 1; earlier ones only say what words like "she" refer to.

    >>> sorted(extraction([Turn("Hello."), Turn("I moved to Porto.", "Ana")]).asked)
    [1, 2]
    """
    before = [{**turn.data(0), "turn": "earlier"} for turn in earlier]
    return _each("extraction", ExtractedTurn, _shown(turns), earlier=before)


def gating(notes: Sequence[NewNote]) -> Request[GatedPair]:
    """Ask how new notes, numbered from 1, relate to their candidates, numbered from 1 for each note."""
    pairs = frozenset((n, c) for n, note in enumerate(notes, 1) for c in range(1, len(note.candidates) + 1))
    return Request("gating", {"notes": _shown(notes)}, pairs, check_each, form("pairs", GatedPair))


def merging(groups: Sequence[Sequence[str]]) -> Request[MergedText]:
    """Ask for one text in place of each group of texts, numbered from 1."""
    return _each("merging", MergedText, [{"texts": list(texts)} for texts in groups])


def consolidation(groups: Sequence[Sequence[str]]) -> Request[ConsolidatedNotes]:
    """Ask for a summary of each group of lines, oldest first; groups are numbered from 1."""
    return _each("consolidation", ConsolidatedNotes, [{"lines": list(lines)} for lines in groups])


def profiling(turns: Sequence[Turn], names: Sequence[str]) -> Request[ProfiledTurn]:
    """Ask what turns, numbered from 1, tell of who said them; `names` are the attributes that are kept."""
    return _each("profiling", ProfiledTurn, _shown(turns), names=[{"names": list(names)}])


def evolving(new: str, near: Sequence[tuple[str, Sequence[str]]]) -> Request[EvolvedNote]:
    """Ask what a new note, the number 1, and the notes near it get from each other; these are texts with their tags.

    >>> sorted(evolving("Ana sold the boat.", [("Ana bought a boat.", ["boat"])]).asked)
    [1, 2]
    """
    others = [{"text": text, "tags": list(tags)} for text, tags in near]
    return _each("evolving", EvolvedNote, [{"new": True, "text": new}, *others])


def labelling(topics: Sequence[TopicKeywords]) -> Request[LabelledTopic]:
    """Ask for a label of each topic, numbered from 1."""
    return _each("labelling", LabelledTopic, _shown(topics))


def describing(blocks: Sequence[BlockNotes], fields: Sequence[tuple[str, str, str]]) -> Request[DescribedBlock]:
    """Ask for the fields of each block, numbered from 1; a field is its name, type (text or list) and meaning."""
    shape = [{"name": name, "type": kind, "meaning": told} for name, kind, told in fields]
    return _each("describing", DescribedBlock, _shown(blocks), fields=shape)


def abstracting(notes: Sequence[AbstractedNote], claims: Sequence[tuple[str, str]]) -> Request[AbstractedClaim]:
    """Ask what notes, numbered from 1, say in general; `claims` are known already, each its relation and its text.

    What is asked about are pairs of a note, and a claim that says the same, 0 for none: at most two claims for a note.

    >>> whales = [AbstractedNote("I read that whales are mammals.")]
    >>> sorted(abstracting(whales, [("is_a", "Whales are animals")]).asked)
    [(1, 0), (1, 1)]
    """
    known = [{"claim": at, "relation": relation, "text": text} for at, (relation, text) in enumerate(claims, 1)]
    asked = frozenset((note, claim) for note in range(1, len(notes) + 1) for claim in range(len(claims) + 1))
    variables: dict[str, Value] = {"most": MOST_CLAIMS * len(notes), "claims": known, "notes": _shown(notes)}
    return Request("abstracting", variables, asked, check_claims, form("claims", AbstractedClaim))


def planning(question: str, moment: datetime, turns: Sequence[tuple[str, str]] = ()) -> Request[PlannedQuestion]:
    """Ask what a question is about, whom and what it names, which days, and what to look for.

    `moment` is the present of the question, `turns` are those before it, each its role and its text.
    """
    before = [{"role": role or "user", "text": text} for role, text in turns]
    asked = {"asked on": f"{moment:%A %Y-%m-%d}", "said before": before, "text": question}
    return _each("planning", PlannedQuestion, [asked])


def sufficiency(question: str, notes: Sequence[str]) -> Request[QuestionSufficiency]:
    """Ask whether notes, best first, answer a question, and what to ask the memory next where they don't."""
    return _each("sufficiency", QuestionSufficiency, [{"text": question, "notes": list(notes)}])


def selecting(question: str, notes: Sequence[str], most: int) -> Request[int]:
    """Ask which of notes, numbered from 1 and likeliest first, answer a question: at most so many.

    >>> sorted(selecting("Where does Ana live?", ["Ana moved.", "Ana lives in Porto."], 1).asked)
    [1, 2]
    """
    numbered = [{"note": at, "text": text} for at, text in enumerate(notes, 1)]
    variables: dict[str, Value] = {"most": most, "question": [{"question": question}], "notes": numbered}
    asked = frozenset[Number](range(1, len(notes) + 1))
    return Request("selecting", variables, asked, check_kept, form("keep", int))


def answering(question: str, context: str, moment: datetime) -> TextRequest:
    """Ask for the answer to a question from numbered lines of a context; `moment` is the present of the question."""
    asked = [{"asked on": f"{moment:%A %Y-%m-%d}", "question": question}]
    return TextRequest("answering", {"question": asked, "notes": context})


def answering_brief(question: str, lines: str) -> TextRequest:
    """Ask for the answer to a question in as few words as possible, from lines of what was said."""
    return TextRequest("answering-brief", {"question": [{"question": question}], "notes": lines})


def judging(question: str, right: str, given: str) -> Request[JudgedAnswer]:
    """Ask whether an answer says what the right one says."""
    return _each("judging", JudgedAnswer, [{"question": question, "right": right, "given": given}])


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
