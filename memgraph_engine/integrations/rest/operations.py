"""The operations of a server: each is a method of Memory, with its address and the right that it takes.

Its parameters, their types and defaults, what it answers with and what is said of it are the method's own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput
from memgraph_engine.integrations.rest.asked import Asked
from memgraph_engine.integrations.rest.bodies import Arguments
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.filters import NOTE_FILTERS, NoteFilters, filters_of
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.key import Right
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Deletion, Hit

_PAGE = 50


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of Memory, by its name, as a server offers it.

    The first argument stands in the address where that has an {id}; the others are the body, or else the query.
    """

    name: str
    right: Right
    route: str
    listed: str = ""
    """What a list that the method returns is called in the answer, which is an object."""
    whole: bool = False
    """It takes a key of the whole tenant, and no arguments."""
    note: str = ""
    """What a server says of it beside the method's first sentence."""
    call: Callable[[Asked, Memory, Whose, dict[str, Any]], object] | None = None
    """What is called in place of the method."""
    answers: Any = None
    """The type of its answer then, or the names and types of an object that is the answer."""
    more: Arguments = field(default_factory=dict)
    """What it takes beside the method's own arguments."""
    streams: bool = False
    """It yields its answer piece by piece."""


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


def _release(_asked: Asked, memory: Memory, own: Whose, given: dict[str, Any]) -> object:
    memory.release(**given, **own)
    return {"released": given["id"]}


_HITS = {"hits": list[Hit], "degraded": list[str], "among": int, "dropped": dict[str, str], "fallbacks": list[str]}
_ASKING = (
    Operation("search", "read", "POST /v1/search", call=_search, answers=_HITS),
    Operation(
        "context",
        "read",
        "POST /v1/context",
        note="The `line` of each entry, and `general`, are what `add` takes as `shown`.",
    ),
    Operation("prompt", "read", "POST /v1/prompt"),
    Operation("answer", "read", "POST /v1/answer", note="Without a model `text` is null, and `fallbacks` says why."),
    Operation("answer_stream", "read", "POST /v1/answer/stream", streams=True),
    Operation("reflect", "write", "POST /v1/reflect"),
    Operation("blocks", "read", "POST /v1/blocks", "blocks"),
    Operation("claims", "read", "POST /v1/claims", "claims"),
)
_LOOKING = (
    Operation(
        "get_all",
        "read",
        "GET /v1/notes",
        call=_get_all,
        answers={"notes": list[Note], "next": str | None},
        more={"limit": (int, {"default": _PAGE, "ge": 1, "le": MOST})},
        note="`next` is null on the last; it is what the next page is `after`.",
    ),
    Operation("get", "read", "GET /v1/notes/{id:path}"),
    Operation("source", "read", "GET /v1/sources/{id:path}"),
    Operation("history", "read", "GET /v1/history/{id:path}", "versions"),
    Operation("explain", "read", "GET /v1/explain/{id:path}"),
    Operation("decisions", "read", "GET /v1/decisions", "decisions"),
    Operation("profile", "read", "GET /v1/profile"),
    Operation("facts", "read", "GET /v1/facts", "facts"),
    Operation("sessions", "read", "GET /v1/sessions", "sessions"),
    Operation("topics", "read", "GET /v1/topics", "topics"),
    Operation("topic", "read", "GET /v1/topics/{id}"),
    Operation("topic_ties", "read", "GET /v1/topic-ties", "ties"),
    Operation("outline", "read", "GET /v1/outline", "blocks"),
    Operation("block", "read", "GET /v1/blocks/{id}"),
    Operation("claim", "read", "GET /v1/claims/{id}"),
    Operation("stats", "read", "GET /v1/stats"),
    Operation("cost", "read", "GET /v1/cost", "days"),
    Operation("users", "read", "GET /v1/users", "users", whole=True),
    Operation("health", "read", "GET /v1/health", whole=True),
)
_WRITING = (
    Operation("add", "write", "POST /v1/messages"),
    Operation("add_many", "write", "POST /v1/messages/batch"),
    Operation("process", "write", "POST /v1/process"),
    Operation("update", "write", "PUT /v1/notes/{id:path}"),
    Operation(
        "delete_all",
        "write",
        "DELETE /v1/notes",
        call=_delete_all,
        answers=Deletion,
        more={"everything": (bool, {"default": False, "description": "Every note, where no filter is given."})},
    ),
    Operation("delete", "write", "DELETE /v1/notes/{id:path}"),
    Operation("undo", "write", "POST /v1/decisions/{id}/undo"),
    Operation("untie", "write", "POST /v1/untie"),
    Operation("set_profile", "write", "PUT /v1/profile"),
    Operation("pin", "write", "PUT /v1/pins/{id:path}"),
    Operation("unpin", "write", "DELETE /v1/pins/{id:path}"),
    Operation("set_policy", "write", "PUT /v1/policies/{id:path}"),
    Operation("restore", "write", "POST /v1/restore/{id:path}"),
    Operation("end_session", "write", "POST /v1/end-session/{id:path}"),
    Operation("evolve", "write", "POST /v1/evolve"),
    Operation("evict", "write", "POST /v1/evict"),
    Operation("consolidate", "write", "POST /v1/consolidate"),
)
_ERASING = (
    Operation(
        "forget",
        "forget",
        "POST /v1/erasures/plans",
        call=_forget,
        note="`erase` takes the plan's id, for a quarter of an hour.",
    ),
    Operation(
        "erase",
        "forget",
        "POST /v1/erasures",
        call=_erase,
        note="Where everything of a user goes, so do the user's keys.",
    ),
    Operation("receipts", "forget", "GET /v1/receipts", "receipts", whole=True),
    Operation("verify_erasure", "forget", "POST /v1/receipts/verify", "faults", whole=True),
    Operation("holds", "forget", "GET /v1/holds", "holds"),
    Operation("hold", "forget", "POST /v1/holds"),
    Operation("release", "forget", "DELETE /v1/holds/{id}", call=_release, answers={"released": str}),
)
OPERATIONS: Mapping[str, Sequence[Operation]] = {
    "asking": _ASKING,
    "looking up": _LOOKING,
    "writing": _WRITING,
    "erasing": _ERASING,
}
"""All of them, by what they are for."""
