"""What is wrong with an argument, on every surface: which name is meant, and what pydantic finds, in a sentence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from memgraph_engine.arrays import np

_MOST = ("limit", "k", "n", "size", "count", "top", "top_n", "max_results", "n_results", "num_results", "number")
ARGUMENTS: Mapping[str, Sequence[str]] = {
    "query": ("question", "q", "text", "search"),
    "user_id": ("user", "username", "user_name", "uid", "owner"),
    "top_k": _MOST,
    "limit": ("top_k", *_MOST),
    "session": ("conversation", "thread", "chat", "run"),
    "agent": ("assistant", "bot"),
    "speaker": ("author", "sender", "name"),
    "since": ("start", "after", "begin", "from"),
    "until": ("end", "before", "to"),
    "as_of": ("at", "when", "date", "time"),
    "metadata": ("filter", "filters", "meta", "where"),
    "tags": ("labels", "categories"),
    "kind": ("type",),
    "min_similarity": ("threshold", "score_threshold", "min_score", "similarity"),
}
"""What else programs call the arguments of a question."""


def meant(unknown: str, names: Iterable[str], called: Mapping[str, Sequence[str]] = ARGUMENTS) -> str:
    """Return which of the names is meant by one that is none of them; '' if it is not known.

    >>> meant("limit", ["query", "top_k"]), meant("sesionId", ["session", "top_k"]), meant("colour", ["top_k"])
    ('top_k', 'session', '')
    """
    known = list(names)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|[^a-zA-Z]+", "_", unknown).strip("_").casefold()
    for one in (name, name.removesuffix("_id")):
        if found := next((own for own in known if one in (own, *called.get(own, ()))), ""):
            return found
    return next(iter(get_close_matches(name, known, n=1)), "")


def did_you_mean(unknown: str, names: Iterable[str]) -> str:
    """Return a question that stands behind a sentence, '' where it is not known what is meant.

    >>> did_you_mean("k", ["top_k"])
    " Did you mean 'top_k'?"
    """
    found = meant(unknown, names)
    return f" Did you mean {found!r}?" if found else ""


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


_QUOTE = ord('"')


def deeper(written: bytes, levels: int) -> bool:
    """Tell whether JSON, in UTF-8, has more than so many levels.

    >>> deeper(b'{"a": ["[[["]}', 2), deeper(b"[[[]]]", 2)
    (False, True)
    """
    if written.count(b"[") + written.count(b"{") <= levels:
        return False
    steps = np.zeros(256, np.int8)  # of levels, for each byte
    steps[list(b"[{")], steps[list(b"]}")] = 1, -1
    signs = np.frombuffer(written.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    outside = np.logical_not(np.bitwise_xor.accumulate(signs == _QUOTE))  # of strings
    return bool(np.cumsum(steps[signs] * outside, dtype=np.int32).max() > levels)
