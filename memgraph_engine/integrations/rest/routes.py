"""The routes of a server, made from its table of operations; and what it calls where that is not a method alone."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from itertools import islice
from types import NoneType
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response, StreamingResponse

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, MemgraphEngineError
from memgraph_engine.integrations import bodies
from memgraph_engine.integrations.bodies import Arguments
from memgraph_engine.integrations.rest.asked import Asked, of_tenant, of_user, rendered
from memgraph_engine.integrations.rest.document import answers
from memgraph_engine.integrations.rest.problems import Refused, described, document
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.filters import NOTE_FILTERS, NoteFilters, filters_of
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.answer import Answer
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Deletion, ErasurePlan, ErasureReceipt, Hit
from memgraph_engine.operations import OPERATIONS, Operation

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


_HITS = {
    "hits": list[Hit],
    "degraded": list[str],
    "among": int,
    "dropped": dict[str, str],
    "fallbacks": list[str],
    "claims": list[Claim],
}
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


router = APIRouter()

_STREAM = "answer_stream"  # the one that yields its answer piece by piece
_EVENTS = {
    "description": "Server-sent events: `piece` with {text}, then `answer` with all of it, or `problem`.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


def _described(one: Operation, tag: str) -> dict[str, Any]:
    """Return what the document says of an operation."""
    said = [bodies.about(one.name), one.note, "It takes a key of the whole tenant." if one.whole else ""]
    told = {"description": " ".join(filter(None, said)), "tags": [tag, *(["of the tenant"] if one.whole else [])]}
    if one.name == _STREAM:
        return {**told, "operation_id": one.name, "responses": {200: _EVENTS}}
    kind = CALLS[one.name].answers if one.name in CALLS else get_type_hints(getattr(Memory, one.name))["return"]
    return {**told, **answers(one.name, {one.listed: str if kind is NoneType else kind} if one.listed else kind)}


def _endpoint(one: Operation, verb: str, path: str) -> Callable[..., Awaitable[Response]]:
    """Return what answers requests for an operation, with the parameters that FastAPI is to read."""
    named = "{id" in path
    in_body = verb == "PUT" or (verb == "POST" and not named)
    special = CALLS.get(one.name)
    arguments = {} if one.whole else bodies.arguments(one.name, in_body=in_body) | (special.more if special else {})
    first, *_ = arguments or [""]
    parameters = dict[str, tuple[Any, Any]]()
    if named:
        parameters["id"] = arguments.pop(first)[0], Path(description=bodies.ID)
    if arguments and in_body:
        parameters["body"] = bodies.body_of(one.name, arguments), Parameter.empty
    else:
        parameters |= {name: (kind, Query(**told)) for name, (kind, told) in arguments.items()}
    asked = of_tenant(one.right) if one.whole else of_user(one.right)
    parameters["asked"] = Annotated[Asked, Depends(asked)], Parameter.empty

    async def endpoint(asked: Asked, body: bodies.Body | None = None, **given: Any) -> Response:
        given |= body.given() if body else {}
        if named:
            given = {first: given.pop("id"), **given}

        def call(memory: Memory, own: Whose) -> Any:
            if special:
                return special.call(asked, memory, own, given)
            return one.answer(getattr(memory, one.name)(**(given if one.whole else {**given, **own})), given)

        return await (_stream(asked, call) if one.name == _STREAM else asked(call))

    endpoint.__name__ = one.name
    endpoint.__signature__ = Signature(  # type: ignore[attr-defined]  # by which FastAPI calls it
        [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, (kind, default) in parameters.items()
        ]
    )
    return endpoint


async def _stream(asked: Asked, call: Callable[[Memory, Whose], Generator[str | Answer, None, None]]) -> Response:
    pieces = await asked.work.stream(lambda: call(asked.caller.memory, asked.whose))
    return StreamingResponse(_events(pieces), media_type="text/event-stream", headers={"Cache-Control": "no-cache"})


async def _events(pieces: AsyncIterator[str | Answer]) -> AsyncIterator[bytes]:
    try:
        async for piece in pieces:
            if isinstance(piece, str):
                yield _event("piece", json.dumps({"text": piece}).encode())
            else:
                yield _event("answer", rendered(piece))
    except MemgraphEngineError as error:
        status, detail = described(error)
        yield _event("problem", json.dumps(document(status, detail, type(error).__name__)).encode())
    except Refused as error:
        yield _event("problem", json.dumps(document(error.status, error.detail)).encode())


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)


for tag, operations in OPERATIONS.items():
    for one in (one for one in operations if one.rest):
        verb, path = one.rest.split()
        router.add_api_route(path, _endpoint(one, verb, path), methods=[verb], **_described(one, tag))
