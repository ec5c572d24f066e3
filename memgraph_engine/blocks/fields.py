"""What a block tells: made of its notes whenever it is read, unless a model described exactly these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log
from typing import Any

from memgraph_engine.blocks.schema import Schema
from memgraph_engine.graph.blocks import Held
from memgraph_engine.lifecycle.summaries import extract, rarity
from memgraph_engine.model.block import SalientNote
from memgraph_engine.model.memory import Note

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
        else _RULES[one.local](contents, language) or ("" if one.type == "text" else ())
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


def _written(kind: str, value: Any) -> object:
    if kind == "salient":
        times = [(one, datetime.fromisoformat(one["note_time"])) for one in value]
        return tuple(SalientNote(**{**one, "note_time": at, "notes": tuple(one["notes"])}) for one, at in times)
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
    return ", ".join(one.text if isinstance(one, Note) else str(one) for one in value)


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
    "span": lambda contents, _: (contents.first_at, contents.last_at),
    "none": lambda *_: (),
}
