"""From a question to what the statement needs: terms, full-text query, filters."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from typing import Any

from memgraph_engine.errors import InvalidInput
from memgraph_engine.graph.note_cache import CachedNote
from memgraph_engine.graph.notes import tags_of
from memgraph_engine.language.terms import asking_terms, tokenize
from memgraph_engine.model.memory import NEVER, READABLE, TRUE_ONCE, UNKNOWN_PAST, Note, Source
from memgraph_engine.trust import TRUST, Trust, below

_KNOWN = (*TRUE_ONCE, "archived")  # all but deleted
_PAST = "past"
_MOST_TERMS = 256
_MOST_NAMED = 64  # terms of a question that keywords are looked for in
_LONGEST_NAME = 3  # terms
_ANY = ["", "\U0010ffff"]
NAMES = ("session", "speaker", "role", "agent")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which notes may be found: those of which one source has all that is asked for. What is None is left open.

    `as_of` is a moment of the world (found is what was true then), `known_at` one of the memory (found is what it
    held then, as it held it); both together ask what it held then to be true at the other moment. `archived` adds what
    was evicted and has not ended. What is kept apart is left out unless its class is `shown`; so is what is trusted
    less than `trust`.
    """

    session: str | None = None
    speaker: str | None = None
    role: str | None = None
    agent: str | None = None
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    not_policy: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    archived: bool = False
    trust: Trust = TRUST[-1]
    shown: frozenset[str] = field(default=frozenset(), compare=False)  # it narrows nothing that others find

    def __post_init__(self) -> None:
        """Refuse a filter that could never match."""
        if self.since and self.until and self.since > self.until:
            raise InvalidInput(f"The time range is empty: since {self.since} is after until {self.until}.")

    @property
    def any(self) -> bool:
        """Whether anything is filtered."""
        return self != Filters()

    @property
    def narrow(self) -> bool:
        """Whether anything is filtered that the indexes can look into."""
        return replace(
            self, tags=(), any_tags=(), policy=(), not_policy=(), metadata={}, kind=None, trust=TRUST[-1]
        ).any

    @property
    def beyond_index(self) -> bool:
        """Whether a filter is on what no index can look into: lists, and the status that a past version had."""
        return bool(self.tags or self.any_tags or self._apart or self.known_at)

    @property
    def statuses(self) -> tuple[str, ...]:
        """Statuses that a note may have, or may have had at `known_at`."""
        found: tuple[str, ...] = TRUE_ONCE if self.as_of else _KNOWN if self.known_at else READABLE
        return (*found, "archived") if self.archived and "archived" not in found else found

    @property
    def indexed_statuses(self) -> tuple[str, ...]:
        """The same as the indexes know them: that of every past version is `past`."""
        return (*self.statuses, _PAST) if self.known_at else self.statuses

    def admits(self, note: CachedNote) -> bool:
        """Apply what the index cannot: the status of then, tags, and what only the sources tell."""
        if note.status not in self.statuses:
            return False
        if self.reads(several=note.several):
            return note.whole and bool(self.meant(note.note()))
        return self._tagged(note.tags)

    def finds(self, note: Note) -> bool:
        """Tell the same of a note that a listing read whole."""
        return not self._of_sources or bool(self.meant(note))

    def reads(self, *, several: bool) -> bool:
        """Whether only its sources tell if a note is meant."""
        return self._apart or (several and self._of_sources)

    @property
    def _of_sources(self) -> bool:
        """Whether anything is filtered that sources have."""
        return replace(self, as_of=None, known_at=None, archived=False).any

    @property
    def _apart(self) -> bool:
        """Whether anything is filtered that only a whole note tells: kind, metadata, class and trust."""
        return bool(self.metadata or self.kind or self.policy or self.not_policy or self.trust != TRUST[-1])

    def meant(self, note: Note) -> list[Source]:
        """Return the sources of a note that are meant: any of them finds it, and a deletion takes back these."""
        if note.policy in self.not_policy or (self.policy and note.policy not in self.policy):
            return []
        if below(note.trust, self.trust):
            return []
        evolved = set(note.tags).difference(tags_of(note.sources))  # tags that an evolution gave it
        return [one for one in note.sources if self._means(one, note) and self._tagged({*tags_of([one]), *evolved})]

    def _tagged(self, tags: Collection[str]) -> bool:
        return set(self.tags) <= {*tags} and (not self.any_tags or not set(self.any_tags).isdisjoint(tags))

    def _means(self, source: Source, note: Note) -> bool:
        came = source.begins_at if len(note.sources) > 1 else None
        said = source.said_at or came or note.said_at
        metadata = source.metadata
        return (
            all(getattr(self, name) in (None, getattr(source, name)) for name in (*NAMES, "kind"))
            and (self.since or UNKNOWN_PAST) <= said <= (self.until or NEVER)
            # as JSON, since Python takes True for 1
            and all(key in metadata and _json(metadata[key]) == _json(value) for key, value in self.metadata.items())
        )

    def listing(self) -> dict[str, Any]:
        """Return what of it a listing of notes looks into: all but what sources have, and the looks back."""
        return {**self._ranges(), "tags": list(self.tags)}

    def parameters(self) -> dict[str, Any]:
        """Return the statement's statuses and ranges."""
        return {
            "statuses": self.indexed_statuses,
            **({"alive": self.known_at} if self.known_at else {}),  # else the present
            "ways": [
                {**self._ranges(), "several": [False] if self._of_sources else [False, True]},
                *([{**Filters()._ranges(), "several": [True]}] if self._of_sources else ()),
            ],
            "as_of": [self.as_of or NEVER, self.as_of or UNKNOWN_PAST],
            "known_at": [self.known_at or NEVER, self.known_at or UNKNOWN_PAST],
        }

    def _ranges(self) -> dict[str, Any]:
        return {
            "since": self.since or UNKNOWN_PAST,
            "until": self.until or NEVER,
            **{name: [value, value] if (value := getattr(self, name)) is not None else _ANY for name in NAMES},
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
    asking = frozenset[str]().union(*map(asking_terms, languages))
    return [term for term in found if term not in asking][:_MOST_TERMS] or list(found)[:_MOST_TERMS]


def names(texts: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Return the keys of all keywords that a question's texts may name: of each run of one to three of its terms.

    >>> names(["Which support groups?"], ["english"])
    ['support', 'supportgroup', 'group']
    """
    found: dict[str, None] = {}
    for language, text in product(languages, texts):
        asking = asking_terms(language)
        words = [term for term in tokenize(text, language) if term not in asking]
        for start in range(min(len(words), _MOST_NAMED)):
            ends = range(start + 1, min(start + _LONGEST_NAME, len(words)) + 1)
            found |= dict.fromkeys("".join(words[start:end]) for end in ends)
    return list(found)
