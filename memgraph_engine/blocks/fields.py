"""What a block tells: made of its notes whenever it is read, unless a model described exactly these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from math import log
from typing import Any

from memgraph_engine.blocks.schema import Schema
from memgraph_engine.graph.blocks import Held
from memgraph_engine.lifecycle.summaries import extract, rarity
from memgraph_engine.model.block import SalientNote
from memgraph_engine.model.memory import Note
from memgraph_engine.rendering.context import told

_KEYWORDS = 8
_TOPICS = 3
_KEEP = 0.5  # of a note's words, at most about that much is its gist
_ASKED = 3  # questions


@dataclass(frozen=True, slots=True)
class Contents:
    """What a block holds, as it is now, and from when to when that is.

    `notes` are the nearest to the question or to the block's middle, the nearest first.
    """

    held: Held
    notes: tuple[Note, ...]
    first_at: datetime
    last_at: datetime

    @property
    def telling(self) -> tuple[str, ...]:
        """The keywords that tell the block from the rest of the memory, by count times idf."""
        held = self.held
        weight = {name: count * log(1 + held.among / max(total, 1)) for name, count, total in held.keywords}
        return tuple(sorted(weight, key=lambda name: (-weight[name], name))[:_KEYWORDS])


def fields(schema: Schema, contents: Contents, language: str) -> dict[str, object]:
    """Return the fields of a block, by name and in the schema's order."""
    written = contents.held.described
    return {
        one.name: _written(one.type, written[one.name])
        if one.name in written
        else _none(one.type)
        if one.local == "none"
        else _RULES[one.local](contents, language)
        for one in schema.field
    }


def nested(given: Mapping[str, object]) -> dict[str, object]:
    """Return fields with those that are parts of one under its name.

    >>> nested({"summary": "Ana sails.", "keywords.mentions": ("Ana",), "keywords.locations": ()})
    {'summary': 'Ana sails.', 'keywords': {'mentions': ('Ana',), 'locations': ()}}
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        whole, _, part = name.partition(".")
        if part:
            found.setdefault(whole, {})[part] = value
        else:
            found[name] = value
    return found


def _none(kind: str) -> str | tuple[str, ...]:
    """Return what a field tells that only a model writes."""
    return "" if kind == "text" else ()


def _written(kind: str, value: Any) -> object:
    if kind == "salient":
        return tuple(
            SalientNote(**{**one, "note_time": datetime.fromisoformat(one["note_time"]), "notes": tuple(one["notes"])})
            for one in value
        )
    return value if isinstance(value, str) else tuple(value)


def spoken(schema: Schema, given: Mapping[str, object]) -> str:
    r"""Return the text of which a vector is made of what a block tells: its fields with `embed`, a line each; no dates.

    >>> from memgraph_engine.blocks.schema import schema
    >>> spoken(schema("personal"), {"summary": "Ana sails.", "subjects": ["Ana"], "topics": ["boats", "the sea"]})
    'Ana sails.\nboats, the sea'
    """
    lines = (_spoken(given.get(one.name, ())) for one in schema.field if one.embed and one.type != "dates")
    return "\n".join(filter(None, lines))


def _spoken(value: object) -> str:
    if isinstance(value, str):
        return value
    assert isinstance(value, Sequence)
    return ", ".join(one.text if isinstance(one, Note | SalientNote) else str(one) for one in value)


def _salient(contents: Contents, language: str) -> tuple[SalientNote, ...]:
    """Return the block's notes, each with the first time that it names."""
    return tuple(SalientNote(note.text, _happened(note, language), note.said_at, (note.id,)) for note in contents.notes)


def _happened(note: Note, language: str) -> str:
    event = next(chain.from_iterable(told(source, language) for source in note.sources), None)
    if event is None:
        return ""
    last = event.end - timedelta(microseconds=1)
    same = [form for form in ("%Y-%m-%d", "%Y-%m", "%Y") if f"{event.start:{form}}" == f"{last:{form}}"]
    return f"{event.start:{same[0]}}" if same else ""


def _gist(contents: Contents, language: str) -> str:
    """Return of the nearest note the sentences that tell most."""
    if not contents.notes:
        return ""
    rare = rarity((note.text for note in contents.notes), language)
    (gist,) = extract([contents.notes[0].text], rare, _KEEP, language)
    return gist


def _questions(contents: Contents, language: str) -> tuple[str, ...]:
    """Return questions in English, the only language that they are written in."""
    people = contents.held.people
    if language != "english" or not people:
        return ()
    return tuple(f"What did {people[0]} say about {name}?" for name in contents.telling[:_ASKED])


_RULES: Mapping[str, Callable[[Contents, str], object]] = {
    "gist": _gist,
    "about": lambda contents, _: ": ".join(filter(None, map(", ".join, (contents.held.people, contents.telling)))),
    "people": lambda contents, _: tuple(contents.held.people),
    "sessions": lambda contents, _: tuple(contents.held.sessions),
    "keywords": lambda contents, _: contents.telling,
    "topics": lambda contents, _: tuple(contents.held.topics[:_TOPICS]),
    "questions": _questions,
    "notes": lambda contents, _: contents.notes,
    "salient": _salient,
    "span": lambda contents, _: (contents.first_at, contents.last_at),
}
