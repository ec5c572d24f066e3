"""What a memory is made of: per label its properties and their types, per type of relationship what it ties.

An export writes nothing else, and an import takes nothing else. So whoever adds a property, a label or a type of
relationship adds it here, or no memory that has it can be exported. Each name that is not listed is refused.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Self, get_args

from annotated_types import Predicate
from neo4j.time import Date, DateTime
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    Json,
    ValidationError,
    ValidationInfo,
    create_model,
    model_validator,
)

from memgraph_engine.cost import Cost
from memgraph_engine.language.terms import are_terms
from memgraph_engine.model.memory import NEVER, SourceKind, Status
from memgraph_engine.model.profile import Delta
from memgraph_engine.model.result import Considered
from memgraph_engine.model.topic import Move
from memgraph_engine.resources import LANGUAGES
from memgraph_engine.trust import TRUST

MADE_ANEW = frozenset(
    {"scope", "tenant", "user", "scope_token", "raw_scoped", "context_scoped", "stamp", "lock", "filled"}
    | {"blocks_run", "blocks_version", "claims_at", "claims_cycle", "claims_version", "abstracted", "shares_claims"}
)
"""Properties that no file holds: they follow from the scope's name, are drawn for each version of a note, or tell of
blocks and claims, which are made anew. That a tenant's users share claims holds of the tenant, and is said there."""

_BY_NAME = ("Keyword",)  # all else is known by its id
_MANY = ("Scope", "Spending", "PastSource", "Past")  # have no id, or share it with others
_FIRST_NODE = 2  # its line
_SHOWN = 80  # characters of a value in a message
_LONGEST = 4096  # bytes of what an index holds: it takes some 8,000, with a scope's name beside
_LARGEST = 1 << 53  # what any program reads exactly from JSON
_COUNTED = 1 << 52  # from here a memory can count on for ever, and be exported still
_PLACES = 1_000_000  # characters of a text, at most: statements cut none behind that
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # milliseconds since 1970 of the years 1 to 9999
_NO_SIGN = "\U0010ffff"  # the upper bound of open filters


class Form(BaseModel):
    """What a node or relationship has, and how that is told; and which vectors.

    Of those that stand `together` it has all or none. In a message each type is called by its description.
    """

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    vectors: ClassVar[tuple[str, ...]] = ()
    together: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def check(
        cls, what: str, properties: Mapping[str, Any], vectors: Mapping[str, Any] | None = None, *, grown: bool = False
    ) -> None:
        """Raise ValueError, with what is wrong in a few words, where something does not fit.

        With `grown`, what was imported may have been counted on since.
        """
        try:
            cls.model_validate(properties, context=grown)
        except ValidationError as error:
            raise ValueError(cls._told(what, properties, error)) from None
        if strange := sorted((vectors or {}).keys() - set(cls.vectors)):
            raise ValueError(f"a {what} has no vector {_shown(strange[0])}")
        there = [name for name in cls.together if name in properties or name in (vectors or {})]
        if there and len(there) < len(cls.together):
            raise ValueError(f"a {what} has {there[0]!r}, and not all of {', '.join(cls.together)}")

    @classmethod
    def _told(cls, what: str, properties: Mapping[str, Any], error: ValidationError) -> str:
        # a name that is not known tells more than the one that is missing in its place
        first = min(error.errors(include_url=False), key=lambda one: one["type"] == "missing")
        if not first["loc"]:
            return f"a {what} {first['ctx']['error']}"
        name = str(first["loc"][0])
        if name not in cls.model_fields:
            return f"a {what} has no property {_shown(name)}"
        if name not in properties:
            return f"a {what} lacks {name!r}"
        return f"{name!r} of a {what} is {_shown(properties[name])}, where {cls.model_fields[name].description} is due"


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _indexed(value: str) -> bool:
    return len(value.encode()) <= _LONGEST and not {_NO_SIGN, "\0"}.intersection(value)


def _counted(value: int, info: ValidationInfo) -> int:
    """Refuse a count that could not grow in the memory that it comes into: an export writes what is grown then."""
    if value > (_LARGEST if info.context else _COUNTED):
        raise ValueError
    return value


def _readable(value: DateTime) -> bool:
    """Tell whether a time can be read: also in UTC it lies within the years that Python knows."""
    if (offset := value.utc_offset()) is None:
        return False
    try:
        return NEVER.year > value.year > 1 or bool(value.to_native().replace(tzinfo=None) - offset)
    except OverflowError:
        return False


def _sayable(value: DateTime) -> bool:
    """Tell whether it is a time of the years that a message may have, in whatever zone: days are counted from it."""
    return (1, 12, 31) <= (value.year, value.month, value.day) <= (9999, 1, 1)


def _given(value: str) -> str:
    if not 1 < datetime.fromisoformat(value).year < NEVER.year:
        raise ValueError
    return value


def _loaded(text: object, whole: Callable[[str], int] = int) -> Any:
    """Return what a text is as JSON, which has no NaN, and no number that is too large; raises ValueError."""
    if not isinstance(text, str):
        raise ValueError
    try:
        return json.loads(text, parse_int=whole, parse_constant=_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError from None


def _exact(text: str) -> int:
    if abs(number := int(text)) > _LARGEST:
        raise ValueError
    return number


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError
    return number


def _exactly(text: object) -> object:
    _loaded(text, _exact)
    return text


def _json(kind: Any, name: str) -> Any:
    return Annotated[kind, BeforeValidator(_exactly), Field(description=name)]


def _one_of(*names: str) -> Any:
    return Annotated[str, Field(pattern=f"^({'|'.join(names)})$", description=f"one of {', '.join(names)}")]


TEXT = Annotated[str, Field(description="a text")]
WORDS = Annotated[str, Field(max_length=_PLACES, description=f"a text of at most {_PLACES:,} characters")]
TEXTS = Annotated[list[str], Field(description="a list of texts")]
_KEPT = Field(description=f"a text of at most {_LONGEST} bytes, none of them NUL,")
INDEXED = Annotated[str, Predicate(_indexed), _KEPT]
NAME = Annotated[INDEXED, Field(min_length=1, description=f"a text of 1 to {_LONGEST} bytes")]
NOTE = Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="the id of a note")]
NOTES = Annotated[list[NOTE], Field(min_length=1, description="a list of ids of notes, one at least")]
WHOLE = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST, description="a whole number")]
FROM_ONE = Annotated[list[Annotated[WHOLE, Field(ge=1)]], Field(description="a list of whole numbers from 1")]
COUNT = Annotated[int, AfterValidator(_counted), Field(ge=0, description="a whole number from 0 to 2^52")]
NUMBER = Annotated[WHOLE | InstanceOf[float], Predicate(math.isfinite), Field(description="a number")]
TRUTH = Annotated[bool, Field(description="true or false")]
TIME = Annotated[InstanceOf[DateTime], Predicate(_readable), Field(description="a time")]
_GOES_ON = Predicate(lambda time: time.year > 1)  # what an erasure hides has no such end
AHEAD = Annotated[TIME, _GOES_ON, Field(description="a time after the year 1")]
END = Annotated[TIME, Predicate(lambda time: time.year == NEVER.year), Field(description="the year 9999")]
SAID = Annotated[TIME, Predicate(_sayable), Field(description="a time of the years 2 to 9998")]
GIVEN = Annotated[str, AfterValidator(_given), Field(description="a time of the years 2 to 9998 in ISO 8601")]
MILLISECONDS = Annotated[int, Field(ge=_FIRST, le=_LAST, description="milliseconds since 1970")]
DAY = Annotated[InstanceOf[Date], Field(description="a day")]
_RISING = Predicate(lambda cuts: cuts == sorted({0, *cuts})[1:])
CUTS = Annotated[list[WHOLE], _RISING, Field(description="a list of places, each behind the one before")]
TERMS = Annotated[str, Predicate(are_terms), Field(description="terms with a space between any two")]
MAP = Annotated[str, Predicate(lambda text: isinstance(_loaded(text), dict)), Field(description="a JSON object")]
OF_TEXT = _json(Json[dict[str, str]], "a JSON object of texts")
OF_TEXTS = _json(Json[dict[str, list[str]]], "a JSON object of lists of texts")
OF_NUMBERS = _json(Json[dict[str, float]], "a JSON object of numbers")
CONSIDERED = _json(Json[list[Considered]], "a JSON list of notes that were compared")
DELTA = _json(Json[list[Delta]], "a JSON list of changes of a profile")
MOVES = _json(Json[list[Move]], "a JSON list of moves")
COST = _json(Json[Cost], "a cost as JSON")
STATUS = _one_of(*get_args(Status))
KIND = _one_of("link", "change", "conflict")


class _Cut(Form):
    text: WORDS
    cuts: CUTS = []

    @model_validator(mode="after")
    def _within(self) -> Self:
        if [0, *self.cuts][-1] > max(len(self.text) - 1, 0):
            raise ValueError("is cut behind its text")
        return self


class _Given(Form):
    notes: NOTES
    revisions: FROM_ONE
    utilities: Annotated[list[WHOLE] | None, Field(description="a list of whole numbers")] = None

    @model_validator(mode="after")
    def _each(self) -> Self:
        if {len(self.notes)} != {len(self.revisions), len(self.utilities or self.notes)}:
            raise ValueError("has not a revision, or a utility, for each note")
        return self


def _form(
    always: Mapping[str, Any],
    perhaps: Mapping[str, Any] | None = None,
    *,
    vectors: tuple[str, ...] = (),
    together: tuple[str, ...] = (),
    base: type[Form] = Form,
) -> type[Form]:
    """Return a form of properties that are always there, and others, by their types; several are parted by spaces."""
    fields: dict[str, Any] = {name: kind for names, kind in always.items() for name in names.split()}
    fields |= {name: (kind, None) for names, kind in (perhaps or {}).items() for name in names.split()}
    form = create_model("Form", __base__=base, **fields)
    form.vectors, form.together = vectors or base.vectors, together or base.together
    return form


_LIFE = {"policy": INDEXED, "pinned": TRUTH, "expires_at erase_at": AHEAD}
_APART = {"policy_as apart": TEXT}
_SOURCE = _form(
    {
        "id": NAME,
        "hash": TEXT,
        "kind": _one_of(*get_args(SourceKind)),
        "role speaker session agent_id": INDEXED,
        "seq": COUNT,
        "tags": TEXTS,
        "metadata": MAP,
        **_LIFE,
    },
    {
        "said_at": SAID,
        "said_as": GIVEN,
        "caption policy_by": TEXT,
        "expires_as begins_at": MILLISECONDS,
        "trust_as": _one_of(*TRUST),
        **_APART,
    },
    together=("said_at", "said_as"),
    base=_Cut,
)
_VECTORS = ("raw_embedding", "context_embedding")
_NOTE = _form(
    {
        "id": NOTE,
        "raw tags": TEXTS,
        "context constructed_by": TEXT,
        "raw_terms context_terms": TERMS,
        "status": STATUS,
        "revision seq": COUNT,
        "role speaker session agent_id": INDEXED,
        "several": TRUTH,
        "said_at": SAID,
        "created_at recorded_at valid_from valid_to": TIME,
        "superseded_at": END,
        **_LIFE,
    },
    {"keywords": TEXTS, "parted": TRUTH, **_APART},
    vectors=_VECTORS,
    together=_VECTORS,
)

NODES: Mapping[str, type[Form]] = {
    "Scope": _form(
        {"language": _one_of(*LANGUAGES), "version notes raw_length context_length changed_since": COUNT},
        {
            "cap topics_most evolved_to": COUNT,
            "notes_since": WHOLE,
            "next_expiry pruned_at decisions_since weighed_at": TIME,
            "keeps_apart withholds_claims": TRUTH,
            "topics_run": TEXT,
            "folders": OF_TEXT,
        },
    ),
    "Spending": _form(
        {"day": DAY},
        {
            "calls input_tokens output_tokens unknown": COUNT,
            "charged_calls charged_tokens": WHOLE,
            "money charged_money": NUMBER,
        },
    ),
    "Source": _SOURCE,
    "PastSource": _form({"superseded_at": TIME}, base=_SOURCE),
    "Note": _NOTE,
    "Past": _form({"status": _one_of("past"), "was": STATUS, "superseded_at": TIME}, base=_NOTE),
    "Keyword": _form({"name": NAME, "key": INDEXED}, vectors=("embedding", "resting")),
    "Topic": _form(
        {"id": NAME, "label labelled_by": TEXT, "size": COUNT, "keywords labelled_from": TEXTS}, vectors=("embedding",)
    ),
    "Run": _form(
        {
            "id": NAME,
            "at": TIME,
            "engine": TEXT,
            "seed": WHOLE,
            "resolution modularity_before modularity_after": NUMBER,
            "keywords pairs topics smallest largest moved joined labelled": COUNT,
            "created ended fallbacks": TEXTS,
            "splits merges": OF_TEXTS,
            "moves": MOVES,
            "cost": COST,
            "seconds": OF_NUMBERS,
        }
    ),
    "Decision": _form(
        {
            "id": NAME,
            "at": TIME,
            "kind note evidence model": TEXT,
            "sources": TEXTS,
            "considered": CONSIDERED,
            "thresholds": OF_NUMBERS,
            "version place calls input_tokens output_tokens": COUNT,
            "seconds": NUMBER,
        },
        {"money": NUMBER, "undoes undone_by scrubbed_by hash": TEXT, "subject": INDEXED, "delta": DELTA},
        together=("subject", "delta", "hash"),
    ),
    "Usage": _form({"id": NOTE, "utility shown used": COUNT, "scored_at": TIME}, {"last_shown last_used": TIME}),
    "Retrieval": _form({"id": NAME, "at": TIME, "call agent session": TEXT}, {"question": WORDS}, base=_Given),
    "Hold": _form({"id": NAME, "session source reason": TEXT, "at": TIME}),
}
"""Each label of a memory's nodes, in the order in which a file has them."""

_SOURCES, _VERSIONS = ("Source", "PastSource"), ("Note", "Past")
_TIE = {"decision": TEXT, "score": NUMBER}
_STRENGTH = {"before": NUMBER, "strengthened_by former": TEXT}


def _between(first: tuple[str, ...], second: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for a in first for b in second)


@dataclass(frozen=True, slots=True)
class Tie:
    """A type of relationship: the labels that it leads `between`, and its properties.

    It never leads from a node to itself. Where it is `single`, one at most leads to a node.
    """

    between: frozenset[tuple[str, str]]
    form: type[Form] = Form
    single: bool = False


TIES: Mapping[str, Tie] = {
    "SPENT": Tie(_between(("Scope",), ("Spending",)), single=True),
    "NEXT": Tie(_between(("Source",), ("Source",)), single=True),
    "FROM": Tie(_between(_VERSIONS, _SOURCES), _form({}, {"part": COUNT})),
    "WAS": Tie(_between(_VERSIONS, ("Past",)) | _between(_SOURCES, ("PastSource",))),
    "SUMS": Tie(_between(_VERSIONS, _VERSIONS)),
    "HAS_KEYWORD": Tie(_between(("Note",), ("Keyword",))),
    "CO_OCCUR": Tie(_between(("Keyword",), ("Keyword",)), _form({"weight": COUNT})),
    "IN_TOPIC": Tie(_between(("Keyword",), ("Topic",))),
    "ABOUT": Tie(_between(("Decision",), (*_SOURCES, *_VERSIONS)), _form({"role": TEXT}, {"revision found": COUNT})),
    "RELATED": Tie(_between(("Note",), ("Note",)), _form({**_TIE, "kind": KIND}, _STRENGTH)),
    "SUPERSEDES": Tie(_between(("Note",), ("Note",)), _form(_TIE)),
    "UNTIED": Tie(
        _between(("Note",), ("Note",)),
        _form({**_TIE, "was": _one_of("RELATED", "SUPERSEDES"), "untied_by": TEXT}, {**_STRENGTH, "kind": KIND}),
    ),
}
"""Each type of relationship."""


class Whole:
    """Nodes and relationships of one memory, in the order of a file: each is held against the forms and those before.

    Its methods raise ValueError, with what is wrong in a few words. With `grown` it is what is stored, not what comes.
    """

    def __init__(self, *, grown: bool = False) -> None:
        self._grown = grown
        self.labels = list[str]()
        self.ties = 0
        self._known = set[tuple[str, str]]()
        self._passages: dict[int, int] = {}  # of sources that are cut
        self._led = {name: set[int]() for name, tie in TIES.items() if tie.single}
        self._told = set[int]()  # versions of notes that have a source
        self._sums = list[tuple[int, int]]()

    def node(self, label: str, properties: Mapping[str, Any], vectors: Mapping[str, Any]) -> None:
        """Take a node, which gets the next number."""
        if label not in NODES:
            raise ValueError(f"a memory has no {label}")
        NODES[label].check(label, properties, vectors, grown=self._grown)
        if label not in _MANY:
            name = properties["name" if label in _BY_NAME else "id"]
            if (label, name) in self._known:
                raise ValueError(f"it is the second {label} {_shown(name)}")
            self._known.add((label, name))
        if cuts := properties.get("cuts"):
            self._passages[len(self.labels)] = len(cuts) + 1
        self.labels.append(label)

    def tie(self, kind: str, first: int, second: int, properties: Mapping[str, Any]) -> None:
        """Take a relationship between two nodes, by their numbers."""
        tie, ends = TIES.get(kind), (self.labels[first], self.labels[second])
        if not tie or ends not in tie.between:
            raise ValueError(f"no {kind!r} leads from a {ends[0]} to a {ends[1]}")
        if first == second:
            raise ValueError(f"no {kind} leads from a {ends[0]} to itself")
        tie.form.check(kind, properties, grown=self._grown)
        if tie.single and second in self._led[kind]:
            raise ValueError(f"it is the second {kind} that leads to a {ends[1]}")
        if kind in self._led:
            self._led[kind].add(second)
        self._tell(kind, first, second, properties.get("part", 0))
        self.ties += 1

    def _tell(self, kind: str, first: int, second: int, part: int) -> None:
        if kind == "FROM":
            if part >= (there := self._passages.get(second, 1)):
                raise ValueError(f"it leads to passage {part} of a {self.labels[second]} that has {there}, from 0 on")
            self._told.add(first)
        elif kind == "SUMS":
            self._sums.append((first, second))

    def end(self) -> None:
        """See that nothing is left that no read and no erasure reaches."""
        told = self._told | {first for first, second in self._sums if second in self._told}
        for number, label in enumerate(self.labels):
            if label in _VERSIONS and number not in told:
                raise ValueError(f"the {label} on line {number + _FIRST_NODE} has no source")
            if label == "Spending" and number not in self._led["SPENT"]:
                raise ValueError(f"the Spending on line {number + _FIRST_NODE} is tied to no Scope")
