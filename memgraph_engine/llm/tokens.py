"""How long a text is for a model whose tokenizer is not known."""

import re
from collections.abc import Iterable

from memgraph_engine.model.ports import Message

_BYTES = 3  # of UTF-8 in a token: English has 4 to 5 and Chinese 2 to 4, so this is rather too many tokens than too few
_PIECES = re.compile(r"[A-Za-z]+|[^\S\n]+|[^A-Za-z]")
_LETTERS = 3  # of a word, in a token
FRAME = 4  # tokens that every message of a chat has beside its text


def tokens(text: str) -> int:
    """Return about how many tokens a text has.

    >>> tokens("The heron caught a fish."), tokens("")
    (9, 1)
    """
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES + 1


def chat_tokens(messages: Iterable[Message]) -> int:
    """Return about how many tokens a chat has."""
    return sum(tokens(message["content"]) + FRAME for message in messages)


def most_tokens(text: str) -> int:
    r"""Return how many tokens a text has at most for the usual tokenizers; lines and words add up.

    Words cost a token for three letters, digits and signs one each, other scripts what they cost where the
    vocabulary has hardly more than their bytes. (What no language holds, such as base64, may take more.)

    >>> most_tokens("The heron caught a fish."), most_tokens("1984-05-08"), most_tokens("鷺")
    (9, 10, 2)
    >>> most_tokens("One line.\nAnother one.") == most_tokens("One line.") + 1 + most_tokens("Another one.")
    True
    """
    return sum(map(_piece_tokens, _PIECES.findall(text)))


def _piece_tokens(piece: str) -> int:
    if piece == " ":  # joins the word behind it
        return 0
    if piece[0].isascii():
        return -(-len(piece) // _LETTERS) if piece[0].isalpha() else len(piece)
    if piece < "\u0800":
        return 1
    return 2 if piece < "\U00010000" else 3
