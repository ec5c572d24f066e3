"""How a piece of code is named and described: by the id, the tags and the metadata of its source."""

import re
from collections.abc import Mapping
from typing import Any

from memgraph_engine.model.memory import Source

MODULE = "<module>"
"""The name of what stands outside of all definitions, as tracebacks have it."""
KEYWORD_KINDS = ("symbol", "endpoint", "command", "configuration", "library")
"""Kinds of keywords, those first that say most of a piece; a tag is a kind or "file", a colon and a word."""
_NUMBER = re.compile(r"@\d+$")


def piece_id(file: str, name: str) -> str:
    """Return the id of a piece: its file, and its name within it.

    >>> piece_id("app/models.py", "User.save")
    'app/models.py::User.save'
    """
    return f"{file}::{name}"


def name_of(source: Source) -> str:
    """Return the qualified name of a piece, without the number of one whose name others of the file have; '' for none.

    >>> name_of(Source("app/models.py::User.save@2", "", "", kind="code"))
    'User.save'
    """
    return _NUMBER.sub("", source.id.partition("::")[2])


def described(source: Source) -> Mapping[str, Any]:
    """Return what is known of a piece besides its text: `about` (its file) and `signature`."""
    known = source.metadata.get("code")
    return known if isinstance(known, Mapping) else {}


def keywords(source: Source) -> list[str]:
    r"""Return the words that a piece names by its tags, those first that say most of it, each as it is written.

    Of a passage of a long piece only those that it holds. The file's name, which all its pieces have, is one where
    there is no other.

    >>> keywords(Source("1", "import os\ndef home(): ...", "", kind="code", tags=("library:os", "symbol:home", "x")))
    ['home', 'os']
    """
    found, file = [], ""
    for tag in source.tags:
        kind, _, word = tag.partition(":")
        if kind == "file":
            file = word
        elif kind in KEYWORD_KINDS and word:
            at = source.text.find(word)
            if at >= 0 or not source.span:
                found.append((KEYWORD_KINDS.index(kind), at, word))
    return list(dict.fromkeys(word for _, _, word in sorted(found))) or [file] * bool(file)
