"""The forms of what calls return, the same on every surface: as JSON with its schema, and as a line for people."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

_LONGEST = 60  # characters of a text in a line
_MOST = 3  # entries of a list in a line
_NEVER = 9999  # the year that stands for "never"


class Result:
    """What a call returns: a frozen dataclass with a JSON form, and a repr of one line.

    `derived` names properties that are part of the JSON form, `brief` the fields and properties that the repr tells;
    without them these are none, and all fields.
    """

    __slots__ = ()
    derived: ClassVar[tuple[str, ...]] = ()
    brief: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON form, as `json.dumps` takes it and `--json` prints it."""
        form: dict[str, Any] = json_form(self)
        return form

    def __repr__(self) -> str:
        """Tell what matters in it; `to_dict` has all of it."""
        told = self.brief or _names(self)
        parts = ((name, getattr(self, name)) for name in told)
        shown = ", ".join(f"{name}={_short(value)}" for name, value in parts if value not in (None, "", ()))
        return f"{type(self).__name__}({shown})"


def json_form(value: object) -> Any:
    """Return a result in dicts, lists, strings, numbers and None, as `json.dumps` takes it.

    An object becomes a dict of its fields. Times are ISO 8601, in UTC; "never" (the year 9999) is None, and the year 1
    stands for "since ever". Raises TypeError for what is no result.

    >>> from memgraph_engine.cost import Budget
    >>> json_form({"limits": (Budget(calls=2),)})
    {'limits': [{'calls': 2, 'tokens': None, 'money': None}]}
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {name: json_form(getattr(value, name)) for name in _names(value)}
    if isinstance(value, Mapping):
        return {name: json_form(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_form(one) for one in value]
    if isinstance(value, datetime) and value.year == _NEVER:
        return None
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no result: it has no JSON form")


def read(kind: Any, form: Any) -> Any:
    """Return the result of a type whose `json_form` this is; what its type does not name is left out.

    >>> from memgraph_engine.cost import Budget
    >>> read(Budget, json_form(Budget(calls=2)))
    Budget(calls=2, tokens=None, money=None)
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if form is None else read(next(one for one in inner if one is not NoneType), form)
    if kind in (datetime, date):
        return kind.fromisoformat(form or f"{_NEVER}-12-31T00:00:00+00:00")
    if origin is tuple and inner[-1] is not ...:
        return tuple(map(read, inner, form))
    if isinstance(form, list) and inner:
        return (tuple if origin is tuple else list)(read(inner[0], one) for one in form)
    if isinstance(form, dict) and inner:
        return {name: read(inner[1], one) for name, one in form.items()}
    if isinstance(form, dict) and kind not in (object, Any):
        hints = get_type_hints(kind if is_dataclass(kind) else kind.__init__)
        return kind(**{name: read(hints[name], one) for name, one in form.items() if name in hints})
    return form


def _names(value: Any) -> tuple[str, ...]:
    return (*(field.name for field in fields(value)), *(value.derived if isinstance(value, Result) else ()))


def _short(value: object) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…")
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%MZ}"
    if isinstance(value, Mapping):
        return f"{{{_several([f'{key!r}: {_short(one)}' for key, one in value.items()])}}}"
    if isinstance(value, list | tuple):
        return f"[{_several([_short(one) for one in value])}]"
    return repr(value)


def _several(parts: list[str]) -> str:
    return ", ".join(parts[:_MOST] + [f"… {len(parts) - _MOST} more"][: len(parts) > _MOST])


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
