"""The JSON form of what calls return, the same on every surface."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any


def json_form(value: object) -> Any:
    """Return a result in dicts, lists, strings, numbers and None, as `json.dumps` takes it.

    An object becomes a dict of its fields. Times are ISO 8601, in UTC; the year 9999 stands for "never" and the year 1
    for "since ever". Raises TypeError for what is no result.

    >>> from memgraph_engine.cost import Budget
    >>> json_form({"limits": (Budget(calls=2),)})
    {'limits': [{'calls': 2, 'tokens': None, 'money': None}]}
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_form(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: json_form(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_form(one) for one in value]
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no result: it has no JSON form")
