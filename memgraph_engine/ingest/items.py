"""From what a store of another kind is given to a Put: key, value and time to live checked."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.ingest.messages import check_depth, check_name
from memgraph_engine.model.item import ITEMS, Put, source_id

_LONGEST = 1_000_000  # characters of a value as JSON
_SHORTEST, _FOREVER = timedelta(seconds=1), timedelta(days=365_000)  # that an item lives at least, and less than


def check_item(key: object, value: object, ttl: float | None = None) -> Put:
    """Return an item that can be put: its value is a mapping, its `ttl` minutes; raises InvalidInput.

    >>> check_item("drinks", {"likes": "tea"}).value
    '{"likes": "tea"}'
    """
    where = f"the item {key!r}"
    if not isinstance(key, str):
        raise InvalidInput(f"{where}: the key is {named(key)}; a string is needed.")
    check_name(source_id(ITEMS, key), "key")
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InvalidInput(f"{where} is {named(value)}; a mapping whose names are strings is needed.")
    written = as_json(dict(value), where)
    if len(written) > _LONGEST:
        raise InvalidInput(f"{where} has {len(written):,} characters as JSON; at most {_LONGEST:,} are allowed.")
    check_depth(written, where)
    return Put(key, written, ttl=_lifetime(ttl, where))


def at_path(value: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a path: a field of that very name, else through the objects that the names lead to.

    >>> at_path({"a": {"b": 1}, "a.c": 2}, "a.b"), at_path({"a": {"b": 1}, "a.c": 2}, "a.c"), at_path({}, "a.b")
    (1, 2, None)
    """
    if path in value:
        return value[path]
    found: Any = value
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


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
    if not _SHORTEST <= ttl < _FOREVER:
        raise InvalidInput(f"{where} must be a second at least, and a thousand years at most.")
    return ttl


def _lifetime(ttl: float | None, where: str) -> timedelta | None:
    if ttl is None:
        return None
    try:
        lifetime = timedelta(minutes=ttl)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{where}: ttl must be a number of minutes, not {ttl!r}.") from None
    return check_ttl(lifetime, f"{where}: ttl, of {ttl!r} minutes,")
