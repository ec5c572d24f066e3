"""From a model's text to a checked answer."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from memgraph_engine.llm.answers import MOST_FAULTS
from memgraph_engine.llm.role import Request

_MOST_TRIES = 100  # braces at which an object may begin: a text of nothing else must not cost much


def parse(text: str, request: Request) -> tuple[Any, ...]:
    """Return the items of the answer that a text holds; raises ValueError in words that the model can act on.

    >>> from memgraph_engine.llm.role import role
    >>> asked = role("merging").request([{"texts": ["Ana moved."]}])
    >>> parse('Gladly! {"merges": [{"merge": 1, "context": "Ana lives in Porto."}]}', asked)
    (Merges(merge=1, context='Ana lives in Porto.'),)
    """
    found = json_object(text)
    if found is None:
        raise ValueError("there is no JSON object in it" if text.strip() else "it is empty")
    try:
        answer = request.role.form.model_validate(found)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
        raise ValueError("; ".join(faults[:MOST_FAULTS])) from None
    ((_, items),) = answer
    request.check(items, request.asked)
    return tuple(items)


def json_object(text: str) -> dict[str, Any] | None:
    r"""Return the longest JSON object in a text, whatever stands around it.

    Broken JSON is refused: a library that mends it would silently drop what was cut off.

    >>> json_object('Think {of} it: {"a": 1}. So: ```json\n{"b": {"c": [2, 3]}}\n``` Anything else?')
    {'b': {'c': [2, 3]}}
    """
    return max(_objects(text), key=lambda found: found[0], default=(0, None))[1]


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield end - at, found
        at = text.find("{", end)
