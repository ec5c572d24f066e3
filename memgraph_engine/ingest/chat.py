"""Chat messages as APIs give them, in the engine's own fields: names, roles, content parts, calls of tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from memgraph_engine.errors import InvalidInput, named

ROLES: Mapping[str, str] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
"""The roles of chat APIs, and the four that the memory knows."""
OTHER_NAMES: Mapping[str, str] = {"content": "text", "agent_id": "agent", "name": "speaker"}
"""What chat APIs call fields that the engine has another name for."""
_CALLS = ("tool_calls", "function_call")
_INSTEAD = ("refusal", "audio")  # what was said is there where there is no text
_SPEAKING = ("text", *(key for key, name in OTHER_NAMES.items() if name == "text"), "caption", *_CALLS, *_INSTEAD)
_UNSAID = (
    "tool_call_id",
    "tool_name",
    "annotations",
    "prefix",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "reasoning_items",
    "thinking",
    "thinking_blocks",
    "provider_specific_fields",
    "cache_control",
)
"""Fields of chat APIs that say nothing to anybody: how a message came about, and what belongs to it."""
TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Parts of a content that hold text, by their type, and under which name."""
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning")
_MEDIA = ("image", "audio", "video", "file", "document")
_WORDLESS = frozenset(
    f"{before}{kind}{after}" for kind in _MEDIA for before in ("", "input_") for after in ("", "_url")
)
"""Parts of a content that hold no text."""
LEFT_OUT = "left_out"
"""Under this name a message's metadata tell which parts of it were no text."""


def fields(given: Mapping[Any, object], where: str) -> dict[Any, object]:
    """Return a message's fields by the names that the engine has for them; what is None is left out.

    `content` is the text, a string or a list of parts. What calls a tool, or is one's result, and says nothing else has
    the role `tool`. Of pictures, sounds and files the metadata keep that they were there (`left_out`). What a model
    thought, and how its message came about, is not taken. Raises InvalidInput for a part of any other kind that holds
    no text, for a role that no API has, and for a turn that lacks its content; one may be empty, or None.

    >>> fields({"role": "human", "name": "Ana", "content": [{"type": "text", "text": "Hi!"}]}, "message 0")
    {'role': 'user', 'speaker': 'Ana', 'text': 'Hi!'}
    """
    if given.get("role") and given.keys().isdisjoint((*_SPEAKING, *_UNSAID)):
        raise InvalidInput(
            f"{where} has a role, but neither content nor tool_calls: give what was said, or '' where nothing was."
        )
    own = {OTHER_NAMES.get(key, key): value for key, value in given.items() if value is not None}
    for other, name in OTHER_NAMES.items():
        if given.get(other) is not None and given.get(name) is not None:
            raise InvalidInput(f"{where} has both {name} and {other}; give one.")
    if "role" in own:
        own["role"] = _role(own["role"], where)
    parts = own.get("text")
    said = list(_said(parts, where)) if isinstance(parts, list) else []
    if isinstance(parts, list):
        own["text"] = "\n".join(text for text, _ in said)
        own = _without_parts(own, parts)
    calls = [text for name in _CALLS for text in _called(own.pop(name, ()), where)]
    beside = {name: own.pop(name, None) for name in _INSTEAD}
    own = {key: value for key, value in own.items() if key not in _UNSAID}
    if not own.get("text") and (instead := _instead(beside) or "\n".join(calls)):
        own["text"] = instead
    traffic = not any(spoken for _, spoken in said) if said else bool(calls) and own.get("text") == "\n".join(calls)
    return {**own, "role": "tool"} if traffic else own


def _without_parts(own: dict[Any, object], parts: Sequence[object]) -> dict[Any, object]:
    """Let the metadata tell which parts hold no text."""
    metadata, left_out = own.get("metadata", {}), list(_wordless(parts))
    if not left_out or not isinstance(metadata, Mapping) or LEFT_OUT in metadata:
        return own
    return {**own, "metadata": {**metadata, LEFT_OUT: left_out}}


def _wordless(parts: Sequence[object]) -> Iterator[str]:
    """Yield the type of each part that holds no text, of those too that are in the result of a tool."""
    for part in parts:
        kind = _kind(part)
        if kind in _WORDLESS:
            yield kind
        held = part.get("content") if kind == "tool_result" and isinstance(part, Mapping) else None
        if isinstance(held, list):
            yield from _wordless(held)


def _role(given: object, where: str) -> str:
    if not isinstance(given, str):
        raise InvalidInput(f"{where}: role is {named(given)}; a string is needed.")
    known = ROLES.get(given.strip().casefold()) if given else ""
    if known is None:
        near = get_close_matches(given, ROLES, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else " Who spoke is told by `speaker`."
        raise InvalidInput(
            f"{where}: no chat API has the role {given[:60]!r}; the roles are {', '.join(ROLES)}.{meant}"
        )
    return known


def _said(parts: Sequence[object], where: str) -> Iterator[tuple[str, bool]]:
    """Yield the text of each part, and whether somebody says it: calls of tools and their results are traffic."""
    for place, part in enumerate(parts):
        if isinstance(part, str):
            yield part, True
            continue
        kind = _kind(part)
        if kind in _THOUGHTS or kind in _WORDLESS:
            continue
        if kind == "tool_use" and isinstance(part, Mapping):
            yield _call(part.get("name"), part.get("input"), f"{where}: part {place} of its content"), False
            continue
        if kind == "tool_result" and isinstance(part, Mapping):
            held = part.get("content") or ""
            inside = _said(held if isinstance(held, list) else [held], f"{where}: part {place} of its content")
            yield "\n".join(text for text, _ in inside), False
            continue
        text = part.get(TEXTS[kind]) if isinstance(part, Mapping) and kind in TEXTS else None
        if not isinstance(text, str):
            what = f"of the type {kind!r}" if kind else named(part)
            raise InvalidInput(
                f"{where}: part {place} of its content is {what} and holds no text; only text can be remembered. "
                "Leave the part out, and tell by `caption` what it shows."
            )
        yield text, True


def _kind(part: object) -> str:
    """Return the type that a part names, '' for none."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _called(given: object, where: str) -> Iterator[str]:
    """Yield the calls of tools, each as it would be written: weather({"city": "Faro"})."""
    calls = [given] if isinstance(given, Mapping) else given
    if not isinstance(calls, list | tuple):
        raise InvalidInput(f"{where}: tool_calls is {named(calls)}; a list is needed.")
    for place, call in enumerate(calls):
        if not isinstance(call, Mapping):
            raise InvalidInput(f"{where}: tool_calls[{place}] is {named(call)}; a mapping is needed.")
        inner = next((one for key in ("function", "custom") if isinstance(one := call.get(key), Mapping)), call)
        given_to = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), "")
        yield _call(inner.get("name"), given_to, f"{where}: tool_calls[{place}]")


def _call(name: object, arguments: object, where: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"{where} calls a tool without a name.")
    try:
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{where} has arguments that can't be written as JSON: {error}.") from None
    return f"{name}({written})"


def _instead(beside: Mapping[str, object]) -> str:
    """Return what is said without a text: a refusal, or what was spoken."""
    refusal, audio = beside["refusal"], beside["audio"]
    spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
    return next((one for one in (refusal, spoken) if isinstance(one, str)), "")
