"""From a question to what the statement needs: terms, full-text query, filters."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from memgraph_engine.errors import InvalidInput
from memgraph_engine.language import tokenize, word_list
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST

_MOST_TERMS = 256  # each is two clauses of at most 1,024
_ANY = ["", "\U0010ffff"]
_WITH_QUESTION_WORDS = ("english", "spanish")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which notes may be found; what is None is left open. `tags` and `metadata` must all be there."""

    session: str | None = None
    speaker: str | None = None
    role: str | None = None
    agent: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a filter that could never match."""
        if self.since and self.until and self.since > self.until:
            raise InvalidInput(f"The time range is empty: since {self.since} is after until {self.until}.")

    @property
    def any(self) -> bool:
        """Whether anything is filtered."""
        return self != Filters()

    @property
    def beyond_index(self) -> bool:
        """Whether a filter is on lists, which no index can look into."""
        return bool(self.tags or self.metadata)

    def admits(self, row: Mapping[str, Any]) -> bool:
        """Apply what the index can't, to a row of the pool: its tags, and the metadata of its sources."""
        return set(self.tags) <= set(row["tags"]) and (
            not self.metadata or any(self._holds(json.loads(source["metadata"])) for source in row["sources"])
        )

    def _holds(self, metadata: Mapping[str, object]) -> bool:
        # as JSON, since Python takes True for 1
        return all(key in metadata and _json(metadata[key]) == _json(value) for key, value in self.metadata.items())

    def parameters(self) -> dict[str, Any]:
        """Return the statement's ranges."""
        return {
            "since": self.since or UNKNOWN_PAST,
            "until": self.until or NEVER,
            **{
                name: [value, value] if (value := getattr(self, name)) is not None else _ANY
                for name in ("session", "speaker", "role", "agent")
            },
        }


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def terms(question: str, languages: Sequence[str]) -> list[str]:
    """Return the distinct terms of a question in the languages of the scopes read, at most 256.

    What makes it a question ("what", "did") says nothing of the answer, and stands in half of all notes: it is
    left out, unless nothing else is there.

    >>> terms("Where did Ana move to?", ["english"]), terms("Who is who?", ["english"])
    (['ana', 'move'], ['who'])
    """
    found = dict.fromkeys(term for language in languages for term in tokenize(question, language))
    asking = {term for language in languages for term in _question_words(language)}
    return [term for term in found if term not in asking][:_MOST_TERMS] or list(found)[:_MOST_TERMS]


@cache
def _question_words(language: str) -> frozenset[str]:
    if language not in _WITH_QUESTION_WORDS:
        return frozenset()
    words = word_list(f"{language}-question-words")
    return frozenset(term for word in words for term in tokenize(word, language))
