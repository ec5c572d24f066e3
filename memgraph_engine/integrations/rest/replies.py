"""How routes describe what they answer, in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from memgraph_engine.interface.schema import Schema, schema_of

AT = "#/components/schemas/"
RESULTS: dict[str, Schema] = {}
"""The schemas of the engine's results that routes answer with, by their names."""


def answers(operation: str, kind: Any) -> dict[str, Any]:
    """Return the arguments of a route that has a name, which programs call it by, and answers with a kind of result.

    The kind is a type, or a mapping of names to types for an object that has these.
    """
    shape = _object(kind) if isinstance(kind, Mapping) else schema_of(kind, RESULTS, AT)
    told = {"description": "What was asked for.", "content": {"application/json": {"schema": shape}}}
    return {"operation_id": operation, "responses": {200: told}}


def _object(kinds: Mapping[str, Any]) -> Schema:
    properties = {name: schema_of(kind, RESULTS, AT) for name, kind in kinds.items()}
    return {"type": "object", "properties": properties, "required": list(kinds), "additionalProperties": False}
