"""What a caller gives to be remembered: texts, mappings, objects of chat libraries; each becomes a source."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.ingest.messages import MessageFields, as_mapping, parse_message
from memgraph_engine.lifecycle.policies import Policies
from memgraph_engine.model.memory import Source
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings


class MessageObject(Protocol):
    """An object of a chat library, which Pydantic made: it gives its fields by `model_dump`."""

    def model_dump(self) -> Mapping[str, object]:
        """Return the message as a mapping."""


Message = str | Mapping[str, object] | MessageObject
"""A text, or a message as chat APIs give it: a mapping, or an object of their libraries."""


def messages(given: object, fields: MessageFields) -> list[object]:
    """Return a message, or a few, with the fields that each lacks; without one the fields are the message."""
    if given is None:
        return [fields]
    if "text" in fields:
        raise InvalidInput("add takes a message or a text=, not both.")
    one = as_mapping(given)
    if isinstance(one, Mapping):
        several: Sequence[object] = [one]
    elif isinstance(given, Sequence) and not isinstance(given, bytes | bytearray):
        several = given
    else:
        raise InvalidInput(f"add takes a text, a message or a list of them, not {named(given)}.")
    own = map(as_mapping, several)
    return [{**fields, **each} if isinstance(each, Mapping) else each for each in own]


def source_of(
    settings: Settings, policies: Policies, scope: Scope, message: object, where: str, now: datetime
) -> Source:
    """Return a message of a scope as a source, which has its policy; raises InvalidInput that says `where`."""
    zone, most = settings.timezone, settings.max_text
    source = parse_message(message, where, timezone=zone, max_text=most, user=scope.user or "", now=now)
    return policies.assigned(source, where, now)
