"""Items: exact values under keys, as stores of agent frameworks keep them."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memgraph_engine.model.memory import Source

ITEMS, FILES, SESSIONS = "item", "item-file", "item-session"
"""The shelves on which items stand: each has keys of its own, so that no surface meets what another has put."""
UNFOUND = "key"
"""The role of an item that has no texts: nothing that is asked finds it."""
_ENTRY = "item"  # of the source's metadata, which holds all of it


@dataclass(frozen=True, slots=True)
class Put:
    """An item to be: its key, its value as JSON, and the texts that it is found by, each for itself.

    It ends `ttl` after it was written or read last; None is never. One that another store had tells when it was
    `created` and `updated` there, and when it `ends`; None is now, and as the `ttl` says.
    """

    key: str
    value: str
    texts: tuple[str, ...] = ()
    ttl: timedelta | None = None
    created: datetime | None = None
    updated: datetime | None = None
    ends: datetime | None = None

    def metadata(self, created: datetime, updated: datetime) -> dict[str, object]:
        """Return the metadata of its source, which hold it whole; its own times go before those given."""
        told = {
            "value": self.value,
            "created": (self.created or created).isoformat(),
            "updated": (self.updated or updated).isoformat(),
            "ttl": None if self.ttl is None else self.ttl.total_seconds(),
        }
        return {_ENTRY: told}

    def end(self, now: datetime) -> datetime | None:
        """Return when it ends if it is written now; None is never."""
        return self.ends or (now + self.ttl if self.ttl else None)

    @property
    def hash(self) -> str:
        """The hash by which a repeat of it is known."""
        told = self.value, self.texts, None if self.ttl is None else self.ttl.total_seconds()
        return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it is stored, in a scope (by its name), on a shelf."""

    scope: str
    shelf: str
    key: str
    value: str
    created_at: datetime
    updated_at: datetime
    ttl: timedelta | None
    expires_at: datetime
    policy: str

    @property
    def source(self) -> str:
        """The id of its source."""
        return source_id(self.shelf, self.key)

    @property
    def place(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.scope, self.source


def is_items(source: str) -> bool:
    """Tell whether the id of a source is that of an item, which no message may have.

    >>> is_items("item-file:/memories/a.md"), is_items("items: 3")
    (True, False)
    """
    return source.partition(":")[0] in (ITEMS, FILES, SESSIONS) and ":" in source


def source_id(shelf: str, key: str) -> str:
    """Return the id of the source that holds an item.

    >>> source_id("item", "a:b")
    'item:a:b'
    """
    return f"{shelf}:{key}"


def item_of(scope: str, source: Source) -> Item:
    """Return the item that a source of this kind holds."""
    told: Any = source.metadata[_ENTRY]
    created, updated = (datetime.fromisoformat(told[name]) for name in ("created", "updated"))
    ttl = None if told["ttl"] is None else timedelta(seconds=told["ttl"])
    (shelf, _, key), ends = source.id.partition(":"), source.expires_at
    return Item(scope, shelf, key, told["value"], created, updated, ttl, ends, source.policy)
