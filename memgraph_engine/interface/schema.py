"""The JSON Schema of what calls return, read off the types of the results: the same on every surface that tells one."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from memgraph_engine.interface.results import Result

Schema = dict[str, Any]

_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    date: {"type": "string", "format": "date"},
    datetime: {"type": ["string", "null"], "format": "date-time"},  # "never" is null
    NoneType: {"type": "null"},
    object: {},
    Any: {},
}


def schema_of(kind: Any, known: dict[str, Schema], at: str = "#/$defs/") -> Schema:
    """Return the schema of `json_form` of a type, and put those of the results in it into `known`, by their names.

    A result is told by a reference: `at` and its name.

    >>> schema_of(tuple[str, ...], {})
    {'type': 'array', 'items': {'type': 'string'}}
    """
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if isinstance(kind, type) and is_dataclass(kind):
        _add(kind, known, at)
        return {"$ref": f"{at}{kind.__name__}"}
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(one, known, at) for one in inner]}
    if origin is tuple and inner[-1] is not ...:
        parts = [schema_of(one, known, at) for one in inner]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if origin in (tuple, list):
        return {"type": "array", "items": schema_of(inner[0], known, at)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1], known, at)}
    raise TypeError(f"{kind} is no type of a result: it has no JSON form")


def _add(kind: Any, known: dict[str, Schema], at: str) -> None:
    name = kind.__name__
    if name in known:
        return
    known[name] = {}  # what it holds may hold it again
    hints = get_type_hints(kind)
    types = {field.name: hints[field.name] for field in fields(kind)}
    derived = kind.derived if issubclass(kind, Result) else ()
    types |= {one: get_type_hints(getattr(kind, one).fget)["return"] for one in derived}
    known[name] = {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").partition("\n")[0].split()),
        "properties": {one: schema_of(hint, known, at) for one, hint in types.items()},
        "required": list(types),
        "additionalProperties": False,
    }
