"""What a server calls in place of a method of Memory, where that is not the method alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput
from memgraph_engine.integrations.bodies import Arguments
from memgraph_engine.integrations.rest.asked import Asked
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.filters import NOTE_FILTERS, NoteFilters, filters_of
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Deletion, ErasurePlan, ErasureReceipt, Hit

_PAGE = 50


@dataclass(frozen=True, slots=True)
class Call:
    """What is called, and the type of its answer, or the names and types of an object that is the answer."""

    call: Callable[[Asked, Memory, Whose, dict[str, Any]], object]
    answers: Any
    more: Arguments = field(default_factory=dict)
    """What it takes beside the method's own arguments."""


def _search(_asked: Asked, memory: Memory, own: Whose, given: dict[str, Any]) -> object:
    hits = memory.search(**given, **own)
    return {"hits": list(hits), **{name: getattr(hits, name) for name in _HITS if name != "hits"}}


def _get_all(_asked: Asked, memory: Memory, own: Whose, given: dict[str, Any]) -> object:
    limit = given["limit"]
    found = list(islice(memory.get_all(**own, **_filters(given), after=given["after"]), limit + 1))
    return {"notes": found[:limit], "next": found[limit - 1].id if len(found) > limit else None}


def _delete_all(_asked: Asked, memory: Memory, own: Whose, given: dict[str, Any]) -> object:
    filters = _filters(given)
    if given["everything"] == bool(filters):
        raise InvalidInput("Say which notes are meant by a filter, or else everything=true.")
    return memory.delete_all(**own, **filters)


def _filters(given: Mapping[str, Any]) -> NoteFilters:
    """Read the filters of a listing from the parameters of a request."""
    some = {name: given[name] for name in NOTE_FILTERS if given[name] is not None}
    return filters_of({name: value if isinstance(value, list) else [value] for name, value in some.items()})


def _forget(asked: Asked, memory: Memory, own: Whose, given: dict[str, Any]) -> object:
    plan = memory.forget(**given, **own)
    asked.access.plans.keep(plan)
    return plan


def _erase(asked: Asked, memory: Memory, own: Whose, given: dict[str, Any]) -> object:
    return memory.erase(asked.access.plans.take(given["plan"], asked.tenant, own))


_HITS = {"hits": list[Hit], "degraded": list[str], "among": int, "dropped": dict[str, str], "fallbacks": list[str]}
CALLS: Mapping[str, Call] = {
    "search": Call(_search, _HITS),
    "get_all": Call(
        _get_all,
        {"notes": list[Note], "next": str | None},
        {"limit": (int, {"default": _PAGE, "ge": 1, "le": MOST})},
    ),
    "delete_all": Call(
        _delete_all,
        Deletion,
        {"everything": (bool, {"default": False, "description": "Every note, where no filter is given."})},
    ),
    "forget": Call(_forget, ErasurePlan),
    "erase": Call(_erase, ErasureReceipt),
}
"""Them, by the methods' names."""
