"""What a model may answer: numbers and what was asked are checked strictly, additions are ignored."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from memgraph_engine.language.claims import Kind

Number = int | tuple[int, int]
"""What an answer speaks of: the number of a turn or of a pair of texts, or those of a note and a candidate."""

MOST_FAULTS = 10
"""Faults of an answer that are told: a model may give any number of them."""
_MOST_KEYWORDS = 8
_LONGEST_NUMBER = 20
_LONGEST_LABEL = 60
MOST_QUERIES = 4
"""Queries that are made of one question (LightMem with small models, section 3.3)."""
MOST_CLAIMS = 2
"""Claims that one note makes at most, on the mean over a request."""
_LONGEST_QUESTION = 500
_LONGEST_NAME = 100


def _keywords(given: object) -> object:
    """Take the first 8 that differ; a list that is too long is no reason to ask again."""
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        return [] if given is None else given
    stripped = [word.strip() for word in given if word.strip()]
    return list({word.casefold(): word for word in reversed(stripped)}.values())[::-1][:_MOST_KEYWORDS]


def _worded(text: str) -> str:
    """Refuse a text without a word: weak models copy the dots of an example."""
    if not re.search(r"\w", text):
        raise ValueError("the context must say something")
    return text


def _short(text: str) -> str:
    """Refuse a label without a word, or longer than a line of a list."""
    if not re.search(r"\w", text):
        raise ValueError("the label must say something")
    if len(text) > _LONGEST_LABEL or len(text.splitlines()) > 1:
        raise ValueError(f"the label must be one line of at most {_LONGEST_LABEL} characters")
    return text


def _question(text: str) -> str:
    """Refuse a question of several lines, or one that is too long."""
    if len(text) > _LONGEST_QUESTION or not text.isprintable():
        raise ValueError(f"must be one line of at most {_LONGEST_QUESTION} characters")
    return text


def _queries(queries: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse more queries than are asked, and one of several lines."""
    if len(queries) > MOST_QUERIES:
        raise ValueError(f"there are {len(queries)} queries; at most {MOST_QUERIES} are asked")
    return tuple(map(_question, queries))


def _names(keywords: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a name of several lines, or one that is too long."""
    if not all(len(word) <= _LONGEST_NAME and word.isprintable() for word in keywords):
        raise ValueError(f"keywords must be names of at most {_LONGEST_NAME} characters")
    return keywords


def _day(given: object) -> object:
    """Take a whole ISO date, or nothing; pydantic would also read numbers as seconds since 1970."""
    if given is None or given == "":
        return None
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d\d-\d\d([T ].*)?", given.strip()):
        return given.strip()[:10]
    raise ValueError("must be a date as YYYY-MM-DD, or null")


_LOWERED = BeforeValidator(lambda v: v.strip().lower() if isinstance(v, str) else v)

Share = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, BeforeValidator(lambda v: "" if v is None else v)]
Worded = Annotated[str, AfterValidator(_worded)]
Texts = Annotated[tuple[str, ...], BeforeValidator(lambda v: () if v is None else v)]
Keywords = Annotated[tuple[str, ...], BeforeValidator(_keywords)]
Names = Annotated[Keywords, AfterValidator(_names)]
Day = Annotated[date | None, BeforeValidator(_day)]
Relation = Annotated[Literal["same", "update", "conflict", "related", "none"], _LOWERED]
General = Annotated[Kind, _LOWERED]


class Part(BaseModel):
    """A part of an answer; other keys than its fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, str_strip_whitespace=True)


class Item(Part):
    """An entry of an answer; its first field is the number of what it speaks of."""

    several: ClassVar[str]
    """What the entries are called in an answer."""

    @classmethod
    def one(cls) -> str:
        """Return what the number of an entry is called.

        >>> MergedText.one()
        'merge'
        """
        return next(iter(cls.model_fields))

    @property
    def number(self) -> Number:
        """What it speaks of."""
        number: Number = getattr(self, self.one())
        return number


def check_each(items: Sequence[Item], asked: frozenset[Number]) -> None:
    """Raise ValueError, in words for the model, unless items speak of each number asked about, once."""
    _check([item.number for item in items], asked)


def _check(numbers: Sequence[Number], asked: frozenset[Number]) -> None:
    given = Counter(numbers)
    faults = [f"{_short_number(number)} was not asked about" for number in given if number not in asked]
    faults += [f"{number} is missing" for number in sorted(asked - set(given), key=str)]
    faults += [f"{_short_number(number)} comes {times} times" for number, times in given.items() if times > 1]
    if faults:
        raise ValueError("; ".join(faults[:MOST_FAULTS]))


def _short_number(number: Number) -> str:
    text = str(number)
    return text if len(text) <= _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}…"


class ExtractedTurn(Item):
    """What is worth keeping of a turn: a self-contained text, keywords, the days of the event it tells of."""

    several = "turns"
    turn: int
    keep: bool
    context: Text = ""
    keywords: Keywords = ()
    event_from: Day = None
    event_to: Day = None

    @model_validator(mode="after")
    def _whole(self) -> "ExtractedTurn":
        if self.keep:
            _worded(self.context)
        if self.event_from and self.event_to and self.event_to < self.event_from:
            raise ValueError("event_to is before event_from")
        return self


class GatedPair(Item):
    """How a new note relates to one of its candidates; shares are between 0 and 1."""

    several = "pairs"
    note: int
    candidate: int
    redundancy: Share
    complementarity: Share
    relation: Relation
    evidence: Text = ""

    @property
    def number(self) -> Number:
        """The numbers of note and candidate."""
        return self.note, self.candidate


class MergedText(Item):
    """The one text that says what several said."""

    several = "merges"
    merge: int
    context: Worded


class ConsolidatedNotes(Item):
    """The summary of one group of notes."""

    several = "groups"
    group: int
    summary: Worded


class LabelledTopic(Item):
    """What a topic is called, in a few words on one line."""

    several = "topics"
    topic: int
    label: Annotated[str, AfterValidator(_short)]


class ProfileChange(Part):
    """What a turn tells of who said it: a value of an attribute, or that one holds no more."""

    name: str
    value: Text = ""
    ends: bool = False


class ProfiledTurn(Item):
    """What a turn tells of who said it."""

    several = "turns"
    turn: int
    changes: tuple[ProfileChange, ...] = ()


class EvolvedNote(Item):
    """What a note gets from another: a tie to it, tags, another context; '' for the one that it has."""

    several = "notes"
    note: int
    tie: bool = False
    tags: Names = ()
    context: Text = ""


class WrittenField(Part):
    """A field of a block: its name, and its text, or the items of a list."""

    name: str
    text: Text = ""
    items: Texts = ()


class DescribedBlock(Item):
    """What a block tells, field by field; whether these are the schema's is for who knows it to see."""

    several = "blocks"
    block: int
    fields: tuple[WrittenField, ...]


class AbstractedClaim(Part):
    """What notes say in general: the notes by their numbers, and that of a claim that says the same, 0 for none."""

    notes: tuple[int, ...]
    subject: str
    relation: General
    object: str
    text: str
    anchor: Annotated[int, BeforeValidator(lambda v: 0 if v is None else v)] = 0


def check_claims(claims: Sequence[AbstractedClaim], asked: frozenset[Number]) -> None:
    """Raise ValueError, in words for the model, for what it was not shown, and for more than it was asked for."""
    pairs = [number for number in asked if isinstance(number, tuple)]
    notes, anchors = {note for note, _ in pairs}, {anchor for _, anchor in pairs}
    if len(claims) > MOST_CLAIMS * len(notes):
        raise ValueError(f"there are {len(claims)} claims; at most {MOST_CLAIMS * len(notes)} are asked for")
    given = dict.fromkeys(note for claim in claims for note in claim.notes)
    faults = [f"there is no note {_short_number(note)}" for note in given if note not in notes]
    others = dict.fromkeys(claim.anchor for claim in claims)
    faults += [f"there is no claim {_short_number(anchor)}" for anchor in others if anchor not in anchors]
    faults += ["a claim names no note that it follows from"] * any(not claim.notes for claim in claims)
    if faults:
        raise ValueError("; ".join(faults[:MOST_FAULTS]))


class JudgedAnswer(Item):
    """Whether an answer is right, and why."""

    several = "answers"
    answer: int
    reason: Text = ""
    correct: bool


class PlannedQuestion(Item):
    """What a question is about, the entities in it, its days, and what is asked for it; each may be missing."""

    several = "questions"
    question: int
    topic: Annotated[Text, AfterValidator(_question)] = ""
    keywords: Names = ()
    since: Day = None
    until: Day = None
    queries: Annotated[Texts, AfterValidator(_queries)] = ()

    @model_validator(mode="after")
    def _whole(self) -> "PlannedQuestion":
        if self.since and self.until and self.until < self.since:
            raise ValueError("until is before since")
        return self


def check_kept(notes: Sequence[int], asked: frozenset[Number]) -> None:
    """Raise ValueError, in words for the model, for a note that it was not shown, or keeps twice."""
    _check(notes, asked & frozenset(notes))


class QuestionSufficiency(Item):
    """How surely notes answer a question, and what is to be asked next; '' for nothing."""

    several = "questions"
    question: int
    confidence: Share
    next: Annotated[Text, AfterValidator(_question)] = ""


@cache
def form(several: str, item: Any) -> type[Part]:
    """Return the form of a whole answer, whose one field holds the items."""
    fields: Any = {several: (tuple[item, ...], ...)}
    return create_model("Answer", __base__=Part, **fields)


def json_schema(answer: type[Part]) -> dict[str, Any]:
    """Return the JSON schema in the strict form that providers take: every key required, none added.

    Bounds, defaults and titles are left out, which not all providers know; the answer is checked for them anyway.

    >>> schema = json_schema(form("merges", MergedText))
    >>> schema["required"], schema["additionalProperties"]
    (['merges'], False)
    """
    schema: dict[str, Any] = _strict(answer.model_json_schema())
    return schema


_UNKNOWN_TO_SOME = {"title", "default", "minimum", "maximum", "minLength", "format", "description"}


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _strict(part) for key, part in schema.items() if key not in _UNKNOWN_TO_SOME}
    if plain.get("type") == "object":
        plain |= {"required": list(plain["properties"]), "additionalProperties": False}
    return plain
