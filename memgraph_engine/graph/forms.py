"""What a memory is made of: per label its properties and their types, per type of relationship what it ties.

An export writes nothing else, and an import takes nothing else. So whoever adds a property, a label or a type of
relationship adds it here, or no memory that has it can be exported. Each name that is not listed is refused.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from neo4j.time import Date, DateTime

from memgraph_engine.cost import Cost
from memgraph_engine.language import LANGUAGES, are_terms
from memgraph_engine.model.memory import NEVER, SourceKind, Status
from memgraph_engine.model.profile import Delta
from memgraph_engine.model.result import Considered
from memgraph_engine.model.topic import Move

MADE_ANEW = frozenset({"scope", "tenant", "user", "scope_token", "raw_scoped", "context_scoped", "stamp", "lock"})
"""Properties that no file holds: they follow from the scope's name, or are drawn for each version of a note."""

_SHOWN = 80  # characters of a value in a message
_LONGEST = 4096  # bytes of what an index holds: it takes some 8,000, with a scope's name beside
_LARGEST = 1 << 53  # what any program reads exactly from JSON
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # milliseconds since 1970 of the years 1 to 9999
_NO_SIGN = "\U0010ffff"  # the upper bound of open filters


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of property: what it is called in a message, and how it is told."""

    name: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Form:
    """What a node or relationship has: `always`, or where there is something to tell; and which vectors.

    Of those that stand `together` it has all or none.
    """

    always: Mapping[str, Kind]
    perhaps: Mapping[str, Kind]
    vectors: tuple[str, ...] = ()
    together: tuple[str, ...] = ()

    def check(self, what: str, properties: Mapping[str, Any], vectors: Mapping[str, Any] | None = None) -> None:
        """Raise ValueError, with what is wrong in a few words, where something does not fit."""
        for name, value in properties.items():
            kind = self.always.get(name) or self.perhaps.get(name)
            if not kind:
                raise ValueError(f"a {what} has no property {_shown(name)}")
            if not kind.fits(value):
                raise ValueError(f"{name!r} of a {what} is {_shown(value)}, where {kind.name} is due")
        if lacking := self.always.keys() - properties.keys():
            raise ValueError(f"a {what} lacks {min(lacking)!r}")
        if strange := sorted((vectors or {}).keys() - set(self.vectors)):
            raise ValueError(f"a {what} has no vector {_shown(strange[0])}")
        there = [name for name in self.together if name in properties or name in (vectors or {})]
        if there and len(there) < len(self.together):
            raise ValueError(f"a {what} has {there[0]!r}, and not all of {', '.join(self.together)}")


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
    return _text(value) and len(value.encode()) <= _LONGEST and _NO_SIGN not in value


def _note(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 32 and set(value) <= set("0123456789abcdef")


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
            return fits(json.loads(value))
        except (ValueError, RecursionError):
            return False

    return told


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
TEXTS = Kind("a list of texts", _texts)
INDEXED = Kind(f"a text of at most {_LONGEST} bytes", _indexed)
NAME = Kind(f"a text of 1 to {_LONGEST} bytes", lambda value: _indexed(value) and value != "")
NOTE = Kind("the id of a note", _note)
WHOLE = Kind("a whole number", _whole)
COUNT = Kind("a whole number from 0 to 2^53", lambda value: _whole(value, 0))
NUMBER = Kind("a number", _number)
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
TIME = Kind("a time", _time)
AHEAD = Kind("a time after the year 1", lambda value: _time(value) and value.year > 1)  # what an erasure hides has none
END = Kind("the year 9999", lambda value: _time(value) and value.year == NEVER.year)
MILLISECONDS = Kind("milliseconds since 1970", lambda value: _whole(value, _FIRST, _LAST))
DAY = Kind("a day", lambda value: isinstance(value, Date))
CUTS = Kind("a list of places, each behind the one before", _cuts)
TERMS = Kind("terms with a space between any two", lambda value: isinstance(value, str) and are_terms(value))
MAP = Kind("a JSON object", _json(_map_of(_any)))
OF_TEXT = Kind("a JSON object of texts", _json(_map_of(_text)))
OF_TEXTS = Kind("a JSON object of lists of texts", _json(_map_of(_texts)))
OF_NUMBERS = Kind("a JSON object of numbers", _json(_map_of(_number)))
CONSIDERED = Kind("a JSON list of notes that were compared", _json(_list_of(Considered)))
DELTA = Kind("a JSON list of changes of a profile", _json(_list_of(Delta)))
MOVES = Kind("a JSON list of moves", _json(_list_of(Move)))
COST = Kind("a cost as JSON", _json(_made_as(Cost)))
STATUS = _one_of(*get_args(Status))

_LIFE = {"policy": INDEXED, "pinned": TRUTH, "expires_at": AHEAD, "erase_at": AHEAD}
_SOURCE = {
    "id": NAME,
    "text": TEXT,
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
    "said_at": TIME,
    "said_as": TEXT,
    "caption": TEXT,
    "policy_as": TEXT,
    "apart": TEXT,
    "cuts": CUTS,
    "expires_as": MILLISECONDS,
    "begins_at": MILLISECONDS,
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
    "said_at": TIME,
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
    "Source": Form(_SOURCE, _SOURCE_TOO),
    "PastSource": Form({**_SOURCE, "superseded_at": TIME}, _SOURCE_TOO),
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


TIES: Mapping[str, tuple[frozenset[tuple[str, str]], Form]] = {
    "SPENT": (_between(("Scope",), ("Spending",)), _EMPTY),
    "NEXT": (_between(("Source",), ("Source",)), _EMPTY),
    "FROM": (_between(_VERSIONS, _SOURCES), Form({}, {"part": COUNT})),
    "WAS": (_between(_VERSIONS, ("Past",)) | _between(_SOURCES, ("PastSource",)), _EMPTY),
    "SUMS": (_between(_VERSIONS, _VERSIONS), _EMPTY),
    "HAS_KEYWORD": (_between(("Note",), ("Keyword",)), _EMPTY),
    "CO_OCCUR": (_between(("Keyword",), ("Keyword",)), Form({"weight": COUNT}, {})),
    "IN_TOPIC": (_between(("Keyword",), ("Topic",)), _EMPTY),
    "ABOUT": (
        _between(("Decision",), (*_SOURCES, *_VERSIONS)),
        Form({"role": TEXT}, {"revision": COUNT, "found": COUNT}),
    ),
    "RELATED": (
        _between(("Note",), ("Note",)),
        Form({**_TIE, "kind": _TIE_TOO["kind"]}, {**_STRENGTH, "former": TEXT}),
    ),
    "SUPERSEDES": (_between(("Note",), ("Note",)), Form(_TIE, {})),
    "UNTIED": (
        _between(("Note",), ("Note",)),
        Form({**_TIE, "was": _one_of("RELATED", "SUPERSEDES"), "untied_by": TEXT}, _TIE_TOO),
    ),
}
"""Each type of relationship: the labels that it leads from and to, and its properties."""
