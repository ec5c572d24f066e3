"""What is wrong with an argument, in a sentence: pydantic finds it, and tells it to programmers."""

from collections.abc import Iterable, Mapping
from typing import Any

from memgraph_engine.interface.meant import did_you_mean

_WANTED = {
    "string": "a text",
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
}
_BOUNDS = {
    "greater_than_equal": "must be {ge} at least",
    "less_than_equal": "must be {le} at most",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "string_too_short": "has too few characters; at least {min_length} are needed",
    "string_too_long": "has too many characters; at most {max_length} are allowed",
    "too_short": "has too few entries; at least {min_length} are needed",
    "too_long": "has too many entries; at most {max_length} are allowed",
    "literal_error": "must be one of {expected}",
    "enum": "must be one of {expected}",
    "missing": "is missing",
}


def sentence(error: Mapping[str, Any], where: str, names: Iterable[str] = (), what: str = "field") -> str:
    """Say what an error of pydantic's means, of what stands where; of a name that there is not, which is meant.

    >>> sentence({"type": "int_parsing", "msg": "…"}, "limit"), sentence({"type": "missing", "msg": "…"}, "query")
    ('limit must be a whole number.', 'query is missing.')
    >>> sentence({"type": "extra_forbidden", "msg": "…"}, "sesion", ["session"])
    "There is no field 'sesion'; the fields are session. Did you mean 'session'?"
    """
    kind, given = error["type"], error.get("ctx") or {}
    if kind == "extra_forbidden":
        known = list(names)
        told = f"; the {what}s are {', '.join(known)}" if known else ""
        return f"There is no {what} {where!r}{told}.{did_you_mean(where, known)}"
    if kind in _BOUNDS:
        return f"{where} {_BOUNDS[kind].format(**given)}."
    wanted = _WANTED.get(kind.partition("_")[0])
    return f"{where} must be {wanted}." if wanted else f"{where}: {error['msg'].rstrip('.')}."
