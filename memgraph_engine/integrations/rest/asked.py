"""What a route is given: whose memory is meant, by who may do so, and how the answer is made."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from starlette.responses import Response

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput
from memgraph_engine.integrations.access import Access, Caller
from memgraph_engine.integrations.rest.work import Work
from memgraph_engine.interface.arguments import did_you_mean
from memgraph_engine.interface.results import json_form
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.key import Right

UserId = Annotated[
    str | None,
    Query(description="The user whose memory is meant. A key of one user means that user's, also without it."),
]
Shared = Annotated[bool, Query(description="Take the tenant's shared memory, not a user's.")]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that may be answered: of which memory, and whose."""

    access: Access
    caller: Caller
    whose: Whose
    work: Work

    async def __call__(self, call: Callable[[Memory, Whose], object]) -> Response:
        """Return what a call gives, as JSON. Both are made in a thread."""

        def answered() -> Response:
            return Response(rendered(call(self.caller.memory, self.whose)), media_type="application/json")

        return await self.work.run(answered)

    @property
    def tenant(self) -> str:
        """The tenant whose memory it is."""
        return self.caller.memory.engine.settings.tenant


def rendered(value: object) -> bytes:
    """Return a result as JSON, on one line."""
    return json.dumps(json_form(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def of_user(right: Right) -> Callable[..., Awaitable[Asked]]:
    """Return what a request for one memory depends on."""

    async def asked(request: Request, user_id: UserId = None, shared: Shared = False) -> Asked:
        check_parameters(request)
        caller: Caller = request.state.caller
        whose = caller.whose(right, user_id, shared=shared)
        return Asked(request.app.state.access, caller, whose, request.app.state.work)

    return asked


def of_tenant(right: Right) -> Callable[..., Awaitable[Asked]]:
    """Return what a request for the whole tenant depends on."""

    async def asked(request: Request) -> Asked:
        check_parameters(request)
        caller: Caller = request.state.caller
        caller.need_tenant(right)
        return Asked(request.app.state.access, caller, {"user_id": None, "shared": True}, request.app.state.work)

    return asked


OfTenant = Annotated[Asked, Depends(of_tenant("read"))]


def check_parameters(request: Request) -> None:
    """Raise InvalidInput for a parameter that the route does not have: a filter that is misspelt would find all."""
    known: set[str] = request.app.state.parameters(request.scope["route"].path_format, request.method)
    if unknown := [name for name in request.query_params if name not in known]:
        told = ", ".join(sorted(known)) or "none"
        near = did_you_mean(unknown[0], sorted(known))
        raise InvalidInput(f"There is no parameter {unknown[0]!r} here; the parameters are {told}.{near}")
    if len(request.query_params.getlist("user_id")) > 1:
        raise InvalidInput("user_id is there several times: say once whose memory is meant.")


def parameters(spec: Callable[[], dict[str, Any]]) -> Callable[[str, str], set[str]]:
    """Return what tells the query parameters of a route, by its path and method, as its document has them."""
    found: dict[tuple[str, str], set[str]] = {}

    def named(path: str, method: str) -> set[str]:
        if not found:
            for template, operations in spec()["paths"].items():
                for verb, operation in operations.items():
                    some = operation.get("parameters", ())
                    found[template, verb.upper()] = {one["name"] for one in some if one["in"] == "query"}
        return found[path, method]

    return named
