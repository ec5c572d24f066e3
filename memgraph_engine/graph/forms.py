"""What a memory is made of: per label its properties and their types, per type of relationship what it ties.

An export writes nothing else, and an import takes nothing else. So whoever adds a property, a label or a type of
relationship adds it here, or no memory that has it can be exported. Each name that is not listed is refused.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, get_args, get_origin, get_type_hints

from neo4j.time import Date, DateTime

from memgraph_engine.cost import Cost
from memgraph_engine.language import LANGUAGES, are_terms
from memgraph_engine.model.memory import NEVER, SourceKind, Status
from memgraph_engine.model.profile import Delta
from memgraph_engine.model.result import Considered
from memgraph_engine.model.topic import Move

MADE_ANEW = frozenset(
    {"scope", "tenant", "user", "scope_token", "raw_scoped", "context_scoped", "stamp", "lock"}
    | {"blocks_run", "blocks_version", "claims_cycle", "claims_version", "abstracted", "shares_claims"}
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


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of property: what it is called in a message, and how it is told.

    What `fits` may grow in the memory that it comes into: an export writes what is `grown` then.
    """

    name: str
    fits: Callable[[Any], bool]
    grown: Callable[[Any], bool] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """What properties of one node must be to each other: what is wrong otherwise, and whether it holds."""

    wrong: str
    holds: Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Form:
    """What a node or relationship has: `always`, or where there is something to tell; and which vectors.

    Of those that stand `together` it has all or none. The `rules` hold between them.
    """

    always: Mapping[str, Kind]
    perhaps: Mapping[str, Kind]
    vectors: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()

    def check(
        self,
        what: str,
        properties: Mapping[str, Any],
        vectors: Mapping[str, Any] | None = None,
        *,
        grown: bool = False,
    ) -> None:
        """Raise ValueError, with what is wrong in a few words, where something does not fit.

        With `grown`, what was imported may have been counted on since.
        """
        self._check_each(what, properties, grown=grown)
        if lacking := self.always.keys() - properties.keys():
            raise ValueError(f"a {what} lacks {min(lacking)!r}")
        if strange := sorted((vectors or {}).keys() - set(self.vectors)):
            raise ValueError(f"a {what} has no vector {_shown(strange[0])}")
        there = [name for name in self.together if name in properties or name in (vectors or {})]
        if there and len(there) < len(self.together):
            raise ValueError(f"a {what} has {there[0]!r}, and not all of {', '.join(self.together)}")
        if broken := next((rule for rule in self.rules if not rule.holds(properties)), None):
            raise ValueError(f"a {what} {broken.wrong}")

    def _check_each(self, what: str, properties: Mapping[str, Any], *, grown: bool) -> None:
        for name, value in properties.items():
            kind = self.always.get(name) or self.perhaps.get(name)
            if not kind:
                raise ValueError(f"a {what} has no property {_shown(name)}")
            fits = kind.grown if grown and kind.grown else kind.fits
            if not fits(value):
                raise ValueError(f"{name!r} of a {what} is {_shown(value)}, where {kind.name} is due")


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _indexed(value: Any) -> bool:
    return _text(value) and len(value.encode()) <= _LONGEST and not {_NO_SIGN, "\0"}.intersection(value)


def _note(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 32 and set(value) <= set("0123456789abcdef")


def _notes(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(map(_note, value))


def _revisions(value: Any) -> bool:
    return isinstance(value, list) and all(_whole(one, 1) for one in value)


def _whole(value: Any, least: int = -_LARGEST, most: int = _LARGEST) -> bool:
    return type(value) is int and least <= value <= most


def _number(value: Any) -> bool:
    return _whole(value) or (type(value) is float and math.isfinite(value))


def _time(value: Any) -> bool:
    """Tell whether it is a time that can be read: also in UTC it lies within the years that Python knows."""
    if not isinstance(value, DateTime) or (offset := value.utc_offset()) is None:
        return False
    try:
        return NEVER.year > value.year > 1 or bool(value.to_native().replace(tzinfo=None) - offset)
    except OverflowError:
        return False


def _said(value: Any) -> bool:
    """Tell whether it is a time of the years that a message may have, in whatever zone: days are counted from it."""
    return _time(value) and (1, 12, 31) <= (value.year, value.month, value.day) <= (9999, 1, 1)


def _given(value: Any) -> bool:
    try:
        return _text(value) and 1 < datetime.fromisoformat(value).year < NEVER.year
    except ValueError:
        return False


def _count(value: Any) -> bool:
    return _whole(value, 0, _COUNTED)


def _grown(value: Any) -> bool:
    return _whole(value, 0)


def _cuts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_whole, value)) and value == sorted({0, *value})[1:]


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _json(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return whether a text is JSON of what fits."""

    def told(value: Any) -> bool:
        if not _text(value):
            return False
        try:
            return fits(json.loads(value, parse_constant=_finite, parse_float=_finite))
        except (ValueError, RecursionError):
            return False

    return told


def _finite(text: str) -> float:
    """Return the number that JSON may hold; raises ValueError for NaN and what is too large for one."""
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def _map_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def _any(_value: Any) -> bool:
    return True


_OF_FIELDS: Mapping[Any, Callable[[Any], bool]] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: lambda value: isinstance(value, bool),
    float | None: lambda value: value is None or _number(value),
}


def _made_as(cls: type) -> Callable[[Any], bool]:
    """Return whether a mapping has the fields of a dataclass."""
    hints = get_type_hints(cls)
    of = {field.name: _literal(hints[field.name]) or _OF_FIELDS[hints[field.name]] for field in fields(cls)}

    def told(value: Any) -> bool:
        if not isinstance(value, dict) or not all(name in of and of[name](one) for name, one in value.items()):
            return False
        try:
            cls(**value)
        except TypeError:  # it lacks some
            return False
        return True

    return told


def _literal(hint: Any) -> Callable[[Any], bool] | None:
    return (lambda value: value in get_args(hint)) if get_origin(hint) is Literal else None


def _list_of(cls: type) -> Callable[[Any], bool]:
    fits = _made_as(cls)
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _one_of(*names: str) -> Kind:
    return Kind(f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names)


TEXT = Kind("a text", _text)
WORDS = Kind(f"a text of at most {_PLACES:,} characters", lambda value: _text(value) and len(value) <= _PLACES)
TEXTS = Kind("a list of texts", _texts)
INDEXED = Kind(f"a text of at most {_LONGEST} bytes, none of them NUL,", _indexed)
NAME = Kind(f"a text of 1 to {_LONGEST} bytes", lambda value: _indexed(value) and value != "")
NOTE = Kind("the id of a note", _note)
WHOLE = Kind("a whole number", _whole)
COUNT = Kind("a whole number from 0 to 2^52", _count, _grown)
NUMBER = Kind("a number", _number)
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
TIME = Kind("a time", _time)
AHEAD = Kind("a time after the year 1", lambda value: _time(value) and value.year > 1)  # what an erasure hides has none
END = Kind("the year 9999", lambda value: _time(value) and value.year == NEVER.year)
MILLISECONDS = Kind("milliseconds since 1970", lambda value: _whole(value, _FIRST, _LAST))
DAY = Kind("a day", lambda value: isinstance(value, Date))
SAID = Kind("a time of the years 2 to 9998", _said)
GIVEN = Kind("a time of the years 2 to 9998 in ISO 8601", _given)
CUTS = Kind("a list of places, each behind the one before", _cuts)
TERMS = Kind("terms with a space between any two", lambda value: isinstance(value, str) and are_terms(value))
MAP = Kind("a JSON object", _json(_map_of(_any)))
OF_TEXT = Kind("a JSON object of texts", _json(_map_of(_text)))
OF_TEXTS = Kind("a JSON object of lists of texts", _json(_map_of(_texts)))
OF_NUMBERS = Kind("a JSON object of numbers", _json(_map_of(_number)))
CONSIDERED = Kind("a JSON list of notes that were compared", _json(_list_of(Considered)))
DELTA = Kind("a JSON list of changes of a profile", _json(_list_of(Delta)))
MOVES = Kind("a JSON list of moves", _json(_list_of(Move)))
NOTES = Kind("a list of ids of notes, one at least", _notes)
REVISIONS = Kind("a list of whole numbers from 1", _revisions)
COST = Kind("a cost as JSON", _json(_made_as(Cost)))
STATUS = _one_of(*get_args(Status))

_LIFE = {"policy": INDEXED, "pinned": TRUTH, "expires_at": AHEAD, "erase_at": AHEAD}
_SOURCE = {
    "id": NAME,
    "text": WORDS,
    "hash": TEXT,
    "kind": _one_of(*get_args(SourceKind)),
    "role": INDEXED,
    "speaker": INDEXED,
    "session": INDEXED,
    "seq": COUNT,
    "agent_id": INDEXED,
    "tags": TEXTS,
    "metadata": MAP,
    **_LIFE,
}
_SOURCE_TOO = {
    "said_at": SAID,
    "said_as": GIVEN,
    "caption": TEXT,
    "policy_as": TEXT,
    "apart": TEXT,
    "cuts": CUTS,
    "expires_as": MILLISECONDS,
    "begins_at": MILLISECONDS,
}
_SOURCE_WHOLE: Any = {
    "together": ("said_at", "said_as"),
    "rules": (Rule("is cut behind its text", lambda of: [0, *of.get("cuts", ())][-1] <= max(len(of["text"]) - 1, 0)),),
}
_NOTE = {
    "id": NOTE,
    "raw": TEXTS,
    "context": TEXT,
    "raw_terms": TERMS,
    "context_terms": TERMS,
    "constructed_by": TEXT,
    "status": STATUS,
    "revision": COUNT,
    "session": INDEXED,
    "seq": COUNT,
    "speaker": INDEXED,
    "role": INDEXED,
    "agent_id": INDEXED,
    "tags": TEXTS,
    "several": TRUTH,
    "said_at": SAID,
    "created_at": TIME,
    "recorded_at": TIME,
    "superseded_at": END,
    "valid_from": TIME,
    "valid_to": TIME,
    **_LIFE,
}
_NOTE_TOO = {"policy_as": TEXT, "apart": TEXT, "keywords": TEXTS, "parted": TRUTH}
_NOTE_VECTORS = ("raw_embedding", "context_embedding")

NODES: Mapping[str, Form] = {
    "Scope": Form(
        {
            "language": _one_of(*LANGUAGES),
            "version": COUNT,
            "notes": COUNT,
            "raw_length": COUNT,
            "context_length": COUNT,
            "changed_since": COUNT,
        },
        {
            "notes_since": WHOLE,
            "cap": COUNT,
            "next_expiry": TIME,
            "keeps_apart": TRUTH,
            "topics_most": COUNT,
            "topics_run": TEXT,
            "folders": OF_TEXT,
            "pruned_at": TIME,
            "decisions_since": TIME,
            "weighed_at": TIME,
            "evolved_to": COUNT,
            "withholds_claims": TRUTH,
        },
    ),
    "Spending": Form(
        {"day": DAY},
        {
            "calls": COUNT,
            "input_tokens": COUNT,
            "output_tokens": COUNT,
            "money": NUMBER,
            "unknown": COUNT,
            "charged_calls": WHOLE,
            "charged_tokens": WHOLE,
            "charged_money": NUMBER,
        },
    ),
    "Source": Form(_SOURCE, _SOURCE_TOO, **_SOURCE_WHOLE),
    "PastSource": Form({**_SOURCE, "superseded_at": TIME}, _SOURCE_TOO, **_SOURCE_WHOLE),
    "Note": Form(_NOTE, _NOTE_TOO, _NOTE_VECTORS, _NOTE_VECTORS),
    "Past": Form(
        {**_NOTE, "status": _one_of("past"), "was": STATUS, "superseded_at": TIME},
        _NOTE_TOO,
        _NOTE_VECTORS,
        _NOTE_VECTORS,
    ),
    "Keyword": Form({"name": NAME, "key": INDEXED}, {}, ("embedding", "resting")),
    "Topic": Form(
        {"id": NAME, "label": TEXT, "size": COUNT, "keywords": TEXTS, "labelled_by": TEXT, "labelled_from": TEXTS},
        {},
        ("embedding",),
    ),
    "Run": Form(
        {
            "id": NAME,
            "at": TIME,
            "engine": TEXT,
            "seed": WHOLE,
            "resolution": NUMBER,
            "keywords": COUNT,
            "pairs": COUNT,
            "topics": COUNT,
            "smallest": COUNT,
            "largest": COUNT,
            "modularity_before": NUMBER,
            "modularity_after": NUMBER,
            "moved": COUNT,
            "joined": COUNT,
            "created": TEXTS,
            "ended": TEXTS,
            "splits": OF_TEXTS,
            "merges": OF_TEXTS,
            "moves": MOVES,
            "labelled": COUNT,
            "fallbacks": TEXTS,
            "cost": COST,
            "seconds": OF_NUMBERS,
        },
        {},
    ),
    "Decision": Form(
        {
            "id": NAME,
            "at": TIME,
            "kind": TEXT,
            "note": TEXT,
            "sources": TEXTS,
            "considered": CONSIDERED,
            "evidence": TEXT,
            "thresholds": OF_NUMBERS,
            "model": TEXT,
            "version": COUNT,
            "place": COUNT,
            "calls": COUNT,
            "input_tokens": COUNT,
            "output_tokens": COUNT,
            "seconds": NUMBER,
        },
        {
            "money": NUMBER,
            "undoes": TEXT,
            "undone_by": TEXT,
            "scrubbed_by": TEXT,
            "subject": INDEXED,
            "delta": DELTA,
            "hash": TEXT,
        },
        together=("subject", "delta", "hash"),
    ),
    "Usage": Form(
        {"id": NOTE, "utility": COUNT, "scored_at": TIME, "shown": COUNT, "used": COUNT},
        {"last_shown": TIME, "last_used": TIME},
    ),
    "Retrieval": Form(
        {"id": NAME, "at": TIME, "call": TEXT, "agent": TEXT, "session": TEXT, "notes": NOTES, "revisions": REVISIONS},
        {"question": WORDS},
        rules=(Rule("has not a revision for each note", lambda of: len(of["notes"]) == len(of["revisions"])),),
    ),
    "Hold": Form({"id": NAME, "session": TEXT, "source": TEXT, "reason": TEXT, "at": TIME}, {}),
}
"""Each label of a memory's nodes, in the order in which a file has them."""

_SOURCES, _VERSIONS = ("Source", "PastSource"), ("Note", "Past")
_TIE = {"decision": TEXT, "score": NUMBER}
_STRENGTH = {"before": NUMBER, "strengthened_by": TEXT}
_TIE_TOO = {**_STRENGTH, "kind": _one_of("link", "change", "conflict"), "former": TEXT}
_EMPTY = Form({}, {})


def _between(first: tuple[str, ...], second: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for a in first for b in second)


@dataclass(frozen=True, slots=True)
class Tie:
    """A type of relationship: the labels that it leads `between`, and its properties.

    It never leads from a node to itself. Where it is `single`, one at most leads to a node.
    """

    between: frozenset[tuple[str, str]]
    form: Form = _EMPTY
    single: bool = False


TIES: Mapping[str, Tie] = {
    "SPENT": Tie(_between(("Scope",), ("Spending",)), single=True),
    "NEXT": Tie(_between(("Source",), ("Source",)), single=True),
    "FROM": Tie(_between(_VERSIONS, _SOURCES), Form({}, {"part": COUNT})),
    "WAS": Tie(_between(_VERSIONS, ("Past",)) | _between(_SOURCES, ("PastSource",))),
    "SUMS": Tie(_between(_VERSIONS, _VERSIONS)),
    "HAS_KEYWORD": Tie(_between(("Note",), ("Keyword",))),
    "CO_OCCUR": Tie(_between(("Keyword",), ("Keyword",)), Form({"weight": COUNT}, {})),
    "IN_TOPIC": Tie(_between(("Keyword",), ("Topic",))),
    "ABOUT": Tie(
        _between(("Decision",), (*_SOURCES, *_VERSIONS)),
        Form({"role": TEXT}, {"revision": COUNT, "found": COUNT}),
    ),
    "RELATED": Tie(
        _between(("Note",), ("Note",)),
        Form({**_TIE, "kind": _TIE_TOO["kind"]}, {**_STRENGTH, "former": TEXT}),
    ),
    "SUPERSEDES": Tie(_between(("Note",), ("Note",)), Form(_TIE, {})),
    "UNTIED": Tie(
        _between(("Note",), ("Note",)),
        Form({**_TIE, "was": _one_of("RELATED", "SUPERSEDES"), "untied_by": TEXT}, _TIE_TOO),
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
