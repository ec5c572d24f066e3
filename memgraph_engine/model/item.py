"""Items: exact values under keys, as stores of agent frameworks keep them."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.model.memory import Source

ITEMS, FILES, SESSIONS = "item", "file", "session"
"""The shelves on which items stand: each has keys of its own, so that no surface meets what another has put."""
_SHORTEST, _LONGEST = timedelta(seconds=1), timedelta(days=365_000)  # that an item lives
_ENTRY = "item"  # of the source's metadata, which holds all of it


@dataclass(frozen=True, slots=True)
class Put:
    """An item to be: its key, its value as JSON, and the texts that it is found by, each for itself.

    It ends `ttl` after it was written or read last; None is never.
    """

    key: str
    value: str
    texts: tuple[str, ...] = ()
    ttl: timedelta | None = None

    def metadata(self, created: datetime, updated: datetime) -> dict[str, object]:
        """Return the metadata of its source, which hold it whole."""
        told = {
            "value": self.value,
            "created": created.isoformat(),
            "updated": updated.isoformat(),
            "ttl": None if self.ttl is None else self.ttl.total_seconds(),
            "indexed": bool(self.texts),
        }
        return {_ENTRY: told}

    @property
    def hash(self) -> str:
        """The hash by which a repeat of it is known."""
        told = self.value, self.texts, None if self.ttl is None else self.ttl.total_seconds()
        return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it is stored, in a scope (by its name), on a shelf.

    `indexed` tells whether it has texts of its own that it is found by; else it is found by its key alone.
    """

    scope: str
    shelf: str
    key: str
    value: str
    created_at: datetime
    updated_at: datetime
    ttl: timedelta | None
    expires_at: datetime
    policy: str
    indexed: bool

    @property
    def source(self) -> str:
        """The id of its source."""
        return source_id(self.shelf, self.key)

    @property
    def place(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.scope, self.source


def source_id(shelf: str, key: str) -> str:
    """Return the id of the source that holds an item.

    >>> source_id("item", "a:b")
    'item:a:b'
    """
    return f"{shelf}:{key}"


def as_json(value: object, where: str) -> str:
    """Return a value as JSON, from which the same comes back; raises InvalidInput.

    >>> as_json({"n": [1, None, "é"]}, "the item")
    '{"n": [1, null, "é"]}'
    """
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
        same = _same(json.loads(written), value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{where} can't be written as JSON: {error}.") from None
    if not same:
        raise InvalidInput(f"{where} has names that are not strings: JSON has no others.")
    try:
        written.encode()
    except UnicodeEncodeError:  # a lone surrogate, which is kept as an escape
        return json.dumps(value)
    return written


def _same(read: object, given: object) -> bool:
    """Tell whether what is read from JSON has the names of what was given: a name that is a number becomes a string."""
    if isinstance(read, dict) and isinstance(given, dict):
        return read.keys() == given.keys() and all(_same(read[name], given[name]) for name in read)
    if isinstance(read, list) and isinstance(given, list | tuple):
        return all(map(_same, read, given))
    return True


def check_ttl(ttl: object, where: str) -> timedelta | None:
    """Return a time to live that items can have; raises InvalidInput."""
    if ttl is None:
        return None
    if not isinstance(ttl, timedelta):
        raise InvalidInput(f"{where} must be a timedelta, not {named(ttl)}.")
    if not _SHORTEST <= ttl < _LONGEST:
        raise InvalidInput(f"{where} must be a second at least, and a thousand years at most.")
    return ttl


def item_of(scope: str, source: Source) -> Item:
    """Return the item that a source of this kind holds."""
    told: Any = source.metadata[_ENTRY]
    created, updated = (datetime.fromisoformat(told[name]) for name in ("created", "updated"))
    ttl = None if told["ttl"] is None else timedelta(seconds=told["ttl"])
    (shelf, _, key), ends = source.id.partition(":"), source.expires_at
    return Item(scope, shelf, key, told["value"], created, updated, ttl, ends, source.policy, told["indexed"])
