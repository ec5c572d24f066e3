"""Conversations as other programs write them, as messages that `Memory.add` takes.

- a list of messages, or an object with `messages` (fine-tuning files of chat APIs);
- an object with `conversations` or `conversation`, whose turns have `from` and `value` (ShareGPT);
- a conversation of an export of ChatGPT (`mapping`, a tree: the branch that is shown) or of Claude (`chat_messages`).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memgraph_engine.importers.times import iso

_LISTS = ("messages", "conversations", "conversation", "chat_messages")
_IDS = ("id", "conversation_id", "session_id", "thread_id", "uuid", "session")
_SPEAKERS = {  # of ShareGPT and exports
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "function_call": "assistant",
    "observation": "tool",
}
_TRAINING = ("weight", "loss", "train")  # fields of a message that say how a model is to learn from it
_TURNS = 1_000_000  # of a tree, which may have a circle


def is_conversation(value: object) -> bool:
    """Tell whether a value holds several messages."""
    if isinstance(value, Mapping):
        lists = any(isinstance(value.get(name), list) for name in _LISTS)
        return lists or (isinstance(value.get("mapping"), Mapping) and "current_node" in value)
    return isinstance(value, list)


def turns(value: Any, session: str = "") -> Iterator[object]:
    """Yield the messages of a conversation in their order, each with the session and an id.

    The session is the one that is given, else the conversation's id, else a hash of what is said in it. A turn without
    an id is known by its place: a conversation that has grown brings what is new.
    """
    own: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    given = _branch(own) if isinstance(own.get("mapping"), Mapping) else _listed(value)
    session = session or next((str(own[name]) for name in _IDS if isinstance(own.get(name), str | int)), "")
    session = session or _digest(given)
    for place, one in enumerate(given):
        yield {"id": f"{session}#{place}", "session": session, **_turn(one)} if isinstance(one, Mapping) else one


def _listed(value: Any) -> Sequence[object]:
    if isinstance(value, list):
        return value
    found: list[object] = next(value[name] for name in _LISTS if isinstance(value.get(name), list))
    return found


def _digest(given: Sequence[object]) -> str:
    told = json.dumps(given, sort_keys=True, default=str)
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def _turn(one: Mapping[str, Any]) -> dict[str, object]:
    """Return a message with the names of fields that `Memory.add` knows."""
    if "value" in one and "from" in one:
        return {"role": _role(one["from"]), "content": one["value"]}
    if "sender" in one and "uuid" in one:
        own = {"id": one["uuid"], "role": _role(one["sender"]), "text": one.get("text") or _parts(one.get("content"))}
        return {**own, "time": iso(one.get("created_at"))}
    return {name: _role(said) if name == "role" else said for name, said in one.items() if name not in _TRAINING}


def _role(given: object) -> object:
    return _SPEAKERS.get(given.casefold(), given) if isinstance(given, str) else given


def _parts(given: object) -> str:
    """Return the texts of a content's parts."""
    some = given if isinstance(given, list) else []
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in some)
    return "\n".join(text for text in texts if isinstance(text, str))


def _branch(own: Mapping[str, Any]) -> list[object]:
    """Return the messages that lead to the one that is shown last, without those that were never shown."""
    tree, at, found = own["mapping"], own.get("current_node"), list[object]()
    for _ in range(min(len(tree), _TURNS)):
        node = tree.get(at) if isinstance(at, str) else None
        if not isinstance(node, Mapping):
            break
        if isinstance(node.get("message"), Mapping) and (message := _shown(node["message"], str(at))):
            found.append(message)
        at = node.get("parent")
    return found[::-1]


def _shown(message: Mapping[str, Any], node: str) -> dict[str, object] | None:
    about, author, content = (message.get(name) for name in ("metadata", "author", "content"))
    if isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation"):
        return None
    said = content if isinstance(content, Mapping) else {}
    text = _parts(said.get("parts")) or said.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    role = author.get("role") if isinstance(author, Mapping) else None
    own = {"id": str(message.get("id") or node), "role": role, "text": text, "time": iso(message.get("create_time"))}
    return {name: one for name, one in own.items() if one is not None}
