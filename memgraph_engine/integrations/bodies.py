"""What requests hold: the arguments of Memory's methods, as JSON. What each means is said there."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from inspect import Parameter, getdoc, signature
from types import UnionType
from typing import Annotated, Any, Union, Unpack, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model
from typing_extensions import TypeAliasType

from memgraph_engine.client import Memory
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.filters import ABOUT, NoteFilters, SearchFilters
from memgraph_engine.trust import TRUST

_MOST_MESSAGES = 1000

_TEXTS = {"type": "array", "items": {"type": "string"}}
_MESSAGE = {
    "description": "A message: its text, and what is known of it; or one as chat APIs give it.",
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "id": {"type": "string", "description": "By it a message is known again."},
                "speaker": {"type": "string"},
                "role": {"type": "string", "description": "user, assistant, system or tool."},
                "agent": {"type": "string"},
                "session": {"type": "string"},
                "time": {"type": "string", "description": "When it was said, ISO 8601."},
                "tags": _TEXTS,
                "metadata": {"type": "object"},
                "caption": {"type": "string", "description": "Of an image."},
                "kind": {"enum": ["message", "document", "code", "api_result"]},
                "policy": {"type": "string", "description": "How long it lives: a class of the policies."},
                "expires": {"type": "string", "description": "After which it can't be read, ISO 8601."},
                "trust": {"enum": list(TRUST), "description": "Of whom it is, if that is to be trusted less."},
                "content": {"description": "The text as chat APIs give it: a string, or a list of parts."},
                "name": {"type": "string"},
            },
        },
    ],
}
Message = TypeAliasType("Message", Annotated[str | dict[str, Any], WithJsonSchema(_MESSAGE)])
ID = "The id of what is meant; of a note, that of one of its sources will do."

_TYPES: Mapping[str, Any] = {
    "message": Message,
    "messages": Annotated[list[Message], Field(max_length=_MOST_MESSAGES)],
    "history": str | list[Message],
    "plan": str,
}
"""The types of arguments that are others in JSON than in Python, by their names."""
_FILTERS = (Unpack[NoteFilters], Unpack[SearchFilters])
_LEFT = ("self", "user_id", "shared", "progress", "fields", "engine")
_BOUNDS = {**dict.fromkeys(("top_k", "limit"), (1, MOST)), "rounds": (1, 3)}
_ABOUT: Mapping[str, str] = {
    "id": ID,
    "text": "What it is to say from now on.",
    "decision": "The id of a decision, as other calls return it.",
    "answer": "What was answered.",
    "about": "The name of somebody or something.",
    "facts": "Tell notes by their facts, these first, in fewer tokens.",
    "former": "Also what later statements replaced.",
    "subject": "A speaker whose profile is meant, not the user's.",
    "limit": "How many, at most.",
    "history": "The turns before the question, or the session they are in.",
    "budget": "The most tokens of the context, 200 or more.",
    "wait": "False: store it, and let a worker construct its note later.",
    "value": "Null ends what it has by this name.",
    "cascade": "Undo later decisions first that changed what it made.",
    "until": "Made until then, ISO 8601.",
    "before": "Said before then, ISO 8601.",
    "add.shown": "What the model was shown: lines of a context.",
    "reflect.shown": "The ids of the notes that were shown, the best first.",
    "query": "What is looked for: a question, as it was asked.",
    "forget.query": "What holds all of these words.",
    "near": "Take what is near to the query too.",
    "plan": "The id of the plan that `forget` made.",
    "since": "The first day, ISO 8601.",
    "known_at": "What the memory held then.",
    "include": "Also notes of these policies, which are shown only if asked for.",
}
"""What is said of arguments, by their names; of one that methods take for different things, by theirs too."""


class Body(BaseModel):
    """The body of a request: no field beside those that there are, and no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    def given(self) -> dict[str, Any]:
        """Return what was given, as arguments of a method."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def about(method: str) -> str:
    """Return what is said of a method of Memory, without its details."""
    return " ".join((getdoc(getattr(Memory, method)) or "").partition("\n\n")[0].split())


Arguments = dict[str, tuple[Any, dict[str, Any]]]
"""Types by names, each with what Pydantic's Field, or FastAPI's Query or Path, takes."""


def arguments(method: str, *, in_body: bool = True) -> Arguments:
    """Return what a request for a method of Memory takes, beside whose memory is meant; of its filters, each.

    What doesn't stand in a body is a parameter, which holds no object.
    """
    call = getattr(Memory, method)
    hints, found = get_type_hints(call), Arguments()
    for name, one in signature(call).parameters.items():
        if hints.get(name) in _FILTERS:
            for own, kind in get_type_hints(get_args(hints[name])[0]).items():
                meaning = ABOUT[own].partition(": ")[2] or ABOUT[own]
                found[own] = _told(meaning, own, kind, {bool: False, Sequence[str]: ()}.get(kind))
            if not in_body:
                found["metadata"] = list[str], {"default": [], "description": "KEY=VALUE; can be repeated."}
        elif name not in _LEFT:
            needed = one.default is Parameter.empty or name == "message"
            meant = _ABOUT.get(f"{method}.{name}", _ABOUT.get(name))
            found[name] = _told(meant, name, hints[name], ... if needed else one.default)
    return found


def _told(meaning: str | None, name: str, kind: Any, default: object) -> tuple[Any, dict[str, Any]]:
    least, most = _BOUNDS.get(name, (None, None))
    told = {"default": [] if default == () else default, "description": meaning, "ge": least, "le": most}
    return _TYPES.get(name) or _in_json(kind), {one: value for one, value in told.items() if one == "default" or value}


def _in_json(kind: Any) -> Any:
    """Return the type of what stands in JSON for an argument: for a time its text, and nothing for a result.

    >>> _in_json(datetime | str | None) == str | None, _in_json(Sequence[str])
    (True, list[str])
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is datetime:
        return str
    if origin in (Union, UnionType):
        return Union[*(_in_json(one) for one in inner if not is_dataclass(one))]
    if origin is Sequence:
        return list[_in_json(inner[0])]  # type: ignore[misc]
    return dict[str, Any] if origin is Mapping else kind


def body_of(method: str, arguments: Arguments) -> type[Body]:
    """Return the form of a body that holds arguments of a method."""
    name = f"{method.title().replace('_', '')}Body"
    fields: Any = {one: (kind, Field(**told)) for one, (kind, told) in arguments.items()}
    return create_model(name, __base__=Body, __doc__=f"What `{method}` takes.", **fields)
