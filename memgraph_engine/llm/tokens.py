"""How long a text is for a model whose tokenizer is not known."""

from collections.abc import Iterable

from memgraph_engine.model.ports import Message

_BYTES = 3  # of UTF-8 in a token: English has 4 to 5 and Chinese 2 to 4, so this is rather too many tokens than too few
_FRAME = 4  # tokens that every message of a chat has beside its text


def tokens(text: str) -> int:
    """Return about how many tokens a text has.

    >>> tokens("The heron caught a fish."), tokens("")
    (9, 1)
    """
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES + 1


def chat_tokens(messages: Iterable[Message]) -> int:
    """Return about how many tokens a chat has."""
    return sum(tokens(message["content"]) + _FRAME for message in messages)
