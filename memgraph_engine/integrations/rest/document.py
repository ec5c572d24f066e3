"""The OpenAPI document: as FastAPI makes it, with our results, our problems and who may ask."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from memgraph_engine.integrations.rest import problems
from memgraph_engine.integrations.rest.gate import OPEN
from memgraph_engine.interface.results import Schema, schema_of
from memgraph_engine.resources import VERSION

_ABOUT = """\
A knowledge memory engine for LLM agents. `user_id` says whose memory is meant, or `shared` the tenant's; a key of one
user means that user's. Each request needs a key (`memgraph-engine keys add`) or a token of the server's issuer, unless
it listens on its own machine alone and there is neither. What fails is told as a problem of RFC 9457, whose `error` is
the class of the engine's error.
"""
_SAID = {
    400: "What was given can't be used; nothing was written.",
    401: "A key or a token is needed, or this one opens nothing.",
    403: "The key does not give this right, or opens another memory.",
    404: "The memory holds no such thing.",
    405: "The path does not take this method.",
    408: "The body did not come in time.",
    409: "It can't be done as things are.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "A budget of chat models is spent.",
    500: "The server failed.",
    501: "The server lacks an optional package.",
    502: "An embedder or a chat model failed.",
    503: "The server is busy, or its database or issuer does not answer; try again later.",
    504: "It took too long.",
}
_PROBLEM = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}
_KEYS = {
    "key": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}


def openapi(app: FastAPI) -> dict[str, Any]:
    """Return the document of an app, made once."""
    if not app.openapi_schema:
        made = get_openapi(title="memgraph-engine", version=VERSION, description=_ABOUT, routes=app.routes)
        parts = made.setdefault("components", {})
        schemas = parts.setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas |= {**RESULTS, "Problem": _PROBLEM}
        parts["securitySchemes"] = _KEYS
        told = {problems.MEDIA: {"schema": {"$ref": f"{AT}Problem"}}}
        parts["responses"] = {str(status): {"description": said, "content": told} for status, said in _SAID.items()}
        for path, operations in made["paths"].items():
            for operation in operations.values():
                _complete(path, operation)
        app.openapi_schema = made
    return app.openapi_schema


def _complete(path: str, operation: dict[str, Any]) -> None:
    operation["responses"].pop("422", None)
    for status in _SAID:
        operation["responses"].setdefault(str(status), {"$ref": f"#/components/responses/{status}"})
    if path not in OPEN:
        operation["security"] = [{"key": []}, {"header": []}]


AT = "#/components/schemas/"
RESULTS: dict[str, Schema] = {}
"""The schemas of the engine's results that routes answer with, by their names."""


def answers(operation: str, kind: Any) -> dict[str, Any]:
    """Return the arguments of a route that has a name, which programs call it by, and answers with a kind of result.

    The kind is a type, or a mapping of names to types for an object that has these.
    """
    if isinstance(kind, Mapping):
        properties = {name: schema_of(one, RESULTS, AT) for name, one in kind.items()}
        shape = {"type": "object", "properties": properties, "required": list(kind), "additionalProperties": False}
    else:
        shape = schema_of(kind, RESULTS, AT)
    told = {"description": "What was asked for.", "content": {"application/json": {"schema": shape}}}
    return {"operation_id": operation, "responses": {200: told}}
