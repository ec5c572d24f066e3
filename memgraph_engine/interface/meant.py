"""Which name is meant by one that there is not, on every surface."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

_MOST = ("limit", "k", "n", "size", "count", "top", "top_n", "max_results", "n_results", "num_results", "number")
ARGUMENTS: Mapping[str, Sequence[str]] = {
    "question": ("query", "q", "text", "search"),
    "query": ("question", "q", "text", "search"),
    "user_id": ("user", "username", "user_name", "uid", "owner"),
    "top_k": _MOST,
    "limit": ("top_k", *_MOST),
    "k": ("top_k", *_MOST),
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

    >>> meant("limit", ["question", "top_k"]), meant("sesionId", ["session", "top_k"]), meant("colour", ["top_k"])
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
