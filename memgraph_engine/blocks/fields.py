"""What a block tells: made of its notes whenever it is read, unless a model described exactly these."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log

from memgraph_engine.blocks.schema import Schema
from memgraph_engine.graph.blocks import Held
from memgraph_engine.lifecycle.summaries import extract, rarity
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
        one.name: (told if isinstance(told, str) else tuple(told))
        if (told := written.get(one.name)) is not None
        else _RULES[one.local](contents, language)
        for one in schema.field
    }


def spoken(schema: Schema, told: Mapping[str, object]) -> str:
    r"""Return the text of which a vector is made of what a block tells: its fields with `embed`, a line each; no dates.

    >>> from memgraph_engine.blocks.schema import schema
    >>> spoken(schema("personal"), {"summary": "Ana sails.", "subjects": ["Ana"], "topics": ["boats", "the sea"]})
    'Ana sails.\nboats, the sea'
    """
    lines = (_spoken(told.get(one.name, ())) for one in schema.field if one.embed and one.type != "dates")
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
}
