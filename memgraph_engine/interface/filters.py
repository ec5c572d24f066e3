"""What narrows notes down: the filters that `search`, `context`, `answer`, `get_all` and `delete_all` take."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypedDict, cast

from memgraph_engine.errors import InvalidInput
from memgraph_engine.interface.arguments import did_you_mean


class NoteFilters(TypedDict, total=False):
    """Which notes of a memory are meant; `Memory.search` says what each filter means."""

    session: str | None
    speaker: str | None
    role: str | None
    agent: str | None
    kind: str | None
    since: datetime | str | None
    until: datetime | str | None
    tags: Sequence[str]
    any_tags: Sequence[str]
    policy: Sequence[str]
    not_policy: Sequence[str]
    metadata: Mapping[str, object] | None


class SearchFilters(NoteFilters, total=False):
    """Which notes a question may find; `Memory.search` says what each filter means."""

    as_of: datetime | str | None
    known_at: datetime | str | None
    min_similarity: float | None
    include: Sequence[str]
    archived: bool
    trust: str | None


NOTE_FILTERS = tuple(NoteFilters.__annotations__)
FILTERS = tuple(SearchFilters.__annotations__)
"""Their names."""
ABOUT: Mapping[str, str] = {
    "session": "ID: Only notes of this conversation or document.",
    "speaker": "NAME: Only what this speaker said.",
    "role": "ROLE: Only messages of this role.",
    "agent": "ID: Only what was said to this agent.",
    "kind": "KIND: Only what came as this: message, document, code, api_result or item.",
    "since": "TIME: Only what was said then or later, ISO 8601.",
    "until": "TIME: Only what was said then or before, ISO 8601.",
    "tags": "TAG: Only notes with this tag; of several, with all.",
    "any_tags": "TAG: Only notes with this tag; of several, with any.",
    "policy": "NAME: Only notes of this policy, also where it is shown only if asked for; or of several.",
    "not_policy": "NAME: No notes of this policy; or of several.",
    "metadata": "KEY=VALUE: Only notes with this entry in the metadata; of several, with all.",
    "as_of": "TIME: Ask what was true in the world then; a day means its end.",
    "known_at": "TIME: Ask what the memory held then (nothing before its import); a day means its end.",
    "min_similarity": "X: Only notes at least this similar to the question, -1 to 1.",
    "include": "POLICY: Also notes of this policy, which are shown only if asked for; or of several.",
    "trust": "CLASS: Only notes trusted at least as far: user, assistant, tool, document, web or unknown.",
    "archived": "Also notes that a summary stands for; they are found by words.",
}
"""What each means, behind a word for its value."""
LISTS = ("tags", "any_tags", "policy", "not_policy", "include")


def unknown(given: Iterable[str], filters: Sequence[str], arguments: Sequence[str] = ()) -> str:
    """Say of a name that is no filter what there is, and which name is meant; '' where all are filters.

    >>> unknown(["limit"], NOTE_FILTERS, ["top_k"])[:54]
    "There is no filter 'limit'. Did you mean 'top_k'? The "
    """
    name = next((one for one in given if one not in filters), "")
    if not name:
        return ""
    told = did_you_mean(name, (*arguments, *filters))
    return f"There is no filter {name!r}.{told} The filters are {', '.join(filters)}."


def filters_of(given: Mapping[str, Sequence[str]]) -> SearchFilters:
    """Read filters from strings, as options and query strings bring them; each name has a list of values.

    Times stay strings, which the engine reads in the zone of its settings. An empty list leaves a filter out.
    Raises InvalidInput.

    >>> filters_of({"speaker": ["Ana"], "tags": ["a", "b"], "metadata": ["floor=2"], "min_similarity": ["0.5"]})
    {'speaker': 'Ana', 'tags': ['a', 'b'], 'metadata': {'floor': 2}, 'min_similarity': 0.5}
    """
    read: dict[str, object] = {}
    for name, values in given.items():
        if no_filter := unknown([name], FILTERS):
            raise InvalidInput(no_filter)
        if len(values) > 1 and name not in (*LISTS, "metadata"):
            raise InvalidInput(f"The filter {name} takes one value, and was given {len(values)}.")
        if values:
            read[name] = _read(name, values)
    return cast("SearchFilters", read)


def _read(name: str, values: Sequence[str]) -> object:
    if name in LISTS:
        return list(values)
    if name == "metadata":
        return metadata_of(values)
    if name == "archived":
        return _switch(name, values[0])
    return _number(name, values[0]) if name == "min_similarity" else values[0]


def metadata_of(pairs: Sequence[str]) -> dict[str, object]:
    """Read KEY=VALUE pairs; a value that is JSON (2, true) is taken as that, any other as text.

    Raises InvalidInput.

    >>> metadata_of(["room=blue", "floor=2"])
    {'room': 'blue', 'floor': 2}
    """
    read: dict[str, object] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not key or not sign:
            raise InvalidInput(f"{pair!r} is not of the form KEY=VALUE.")
        if key in read:
            raise InvalidInput(f"The key {key!r} of the metadata is given twice.")
        try:
            read[key] = json.loads(value)
        except (ValueError, RecursionError):
            read[key] = value
    return read


def _switch(name: str, value: str) -> bool:
    if value.casefold() not in ("true", "false"):
        raise InvalidInput(f"{name} must be true or false, not {value!r}.")
    return value.casefold() == "true"


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InvalidInput(f"{name} must be a number, not {value!r}.") from None
