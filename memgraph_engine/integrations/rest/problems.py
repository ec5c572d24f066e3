"""What a request that failed is told: a problem of RFC 9457, in one sentence, without what is the server's own."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from math import ceil

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memgraph_engine.errors import MemgraphEngineError
from memgraph_engine.interface.arguments import sentence
from memgraph_engine.interface.status import status_of

MEDIA = "application/problem+json"
_AGAIN = 5  # seconds after which what failed in passing may work
_log = logging.getLogger("memgraph_engine")


class Refused(Exception):
    """A request that the server itself does not take, before or beside what the engine says of it."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, dict(headers or {})


def document(status: int, detail: str, error: str = "") -> dict[str, object]:
    """Return a problem; `error` is the class of the engine's error, by which programs tell them apart."""
    told = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return told | ({"error": error} if error else {})


def problem(status: int, detail: str, error: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that tells a problem."""
    return Response(json.dumps(document(status, detail, error)), status, headers, MEDIA)


def described(error: MemgraphEngineError) -> tuple[int, str]:
    """Return the status of an error, and what is told of it.

    What is the caller's fault is told as it is. Of all else its kind is told: the message names servers, files and
    models, and goes into the log.
    """
    status = status_of(error).http
    return status, str(error) if status < 500 else _kind(type(error))


def _kind(error: type[MemgraphEngineError]) -> str:
    """Return the first sentence of what a class of errors is."""
    return " ".join((error.__doc__ or "").partition("\n\n")[0].split()).partition(";")[0].rstrip(".") + "."


def of_engine(error: MemgraphEngineError) -> Response:
    """Return the response for an error of the engine."""
    status, detail = described(error)
    if status >= 500:
        _log.error("%s: %s", type(error).__name__, error)
    return problem(status, detail, type(error).__name__, _headers(status, error))


def _headers(status: int, error: MemgraphEngineError) -> dict[str, str]:
    if challenge := getattr(error, "challenge", ""):
        return {"WWW-Authenticate": challenge}
    return {"Retry-After": str(ceil(getattr(error, "retry_after", None) or _AGAIN))} if status == 503 else {}


async def told(_request: Request, error: Exception) -> Response:
    """Tell what a request failed by. Of what nobody foresaw nothing is told; the log has all."""
    match error:
        case MemgraphEngineError():
            return of_engine(error)
        case Refused():
            return problem(error.status, error.detail, headers=error.headers)
        case RequestValidationError():  # the first thing that is wrong, by where it stands; what was given stays here
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"][1:]) or "the body"
            if first["type"] == "json_invalid":
                return problem(400, f"The body is no JSON, from character {first['loc'][-1]} on.", "InvalidInput")
            return problem(400, sentence(first, where), "InvalidInput")
        case HTTPException():  # of the framework
            said = {404: "There is no such path.", 405: "This path does not take this method."}
            detail = said.get(error.status_code, str(error.detail))
            return problem(error.status_code, detail, headers=error.headers)
    return problem(500, "The server failed; its log tells why.")
