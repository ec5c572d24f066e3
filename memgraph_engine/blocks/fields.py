"""What a block tells, made of its notes whenever it is read: so nothing that is deleted or changed stays in one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log

from memgraph_engine.blocks.schema import Schema
from memgraph_engine.lifecycle.summaries import extract, rarity
from memgraph_engine.model.memory import Note

_KEYWORDS = 8
_TOPICS = 3
_KEEP = 0.5  # of a note's words, at most about that much is its gist
_ASKED = 3  # questions


@dataclass(frozen=True, slots=True)
class Contents:
    """What a block holds, as it is now.

    `notes` are the nearest to the question or to the block's middle, the nearest first. `keywords` are names, each with
    how many notes of the block carry it, and how many of the memory's `among`.
    """

    notes: tuple[Note, ...]
    keywords: Sequence[tuple[str, int, int]]
    topics: Sequence[str]
    people: Sequence[str]
    sessions: Sequence[str]
    among: int
    first_at: datetime
    last_at: datetime

    @property
    def telling(self) -> tuple[str, ...]:
        """The keywords that tell the block from the rest of the memory, by count times idf."""
        weight = {name: count * log(1 + self.among / max(total, 1)) for name, count, total in self.keywords}
        return tuple(sorted(weight, key=lambda name: (-weight[name], name))[:_KEYWORDS])


def fields(schema: Schema, contents: Contents, language: str) -> dict[str, object]:
    """Return the fields of a block, by name and in the schema's order."""
    return {field.name: _RULES[field.local](contents, language) for field in schema.field}


def _gist(contents: Contents, language: str) -> str:
    """Return of the nearest note the sentences that tell most."""
    if not contents.notes:
        return ""
    rare = rarity((note.text for note in contents.notes), language)
    (gist,) = extract([contents.notes[0].text], rare, _KEEP, language)
    return gist


def _about(contents: Contents, _language: str) -> str:
    parts = (", ".join(contents.people), ", ".join(contents.telling))
    return ": ".join(part for part in parts if part)


def _questions(contents: Contents, language: str) -> tuple[str, ...]:
    """Return questions in English, the only language that they are written in."""
    if language != "english" or not contents.people:
        return ()
    return tuple(f"What did {contents.people[0]} say about {name}?" for name in contents.telling[:_ASKED])


_RULES: Mapping[str, Callable[[Contents, str], object]] = {
    "gist": _gist,
    "about": _about,
    "people": lambda contents, _: tuple(contents.people),
    "sessions": lambda contents, _: tuple(contents.sessions),
    "keywords": lambda contents, _: contents.telling,
    "topics": lambda contents, _: tuple(contents.topics[:_TOPICS]),
    "questions": _questions,
    "notes": lambda contents, _: contents.notes,
    "span": lambda contents, _: (contents.first_at, contents.last_at),
}
