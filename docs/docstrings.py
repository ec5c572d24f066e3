"""An extension of griffe: what docstrings write as plain text is Markdown in the site."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.MULTILINE)
_WORDS = re.compile(r"(?:^\w+  +\S.*(?:\n|\Z)){2,}", re.MULTILINE)
_WORD = re.compile(r"(\w+)  +(.+?)(?=   +\w+  +|$)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Puts examples, as doctest reads them, into fences; makes lists of words in a column and what they mean."""

    def on_object(self, *, obj: griffe.Object, **_others: Any) -> None:
        """Rewrite the docstring of whatever was found."""
        if obj.docstring:
            text = _EXAMPLE.sub(lambda one: f"```pycon\n{one[0]}\n```", obj.docstring.value)
            obj.docstring.value = _WORDS.sub(_list, text)


def _list(words: re.Match[str]) -> str:
    return "".join(["\n", *(f"- `{word}`: {meaning.rstrip()}\n" for word, meaning in _WORD.findall(words[0])), "\n"])
