"""An extension of griffe: examples in docstrings are blocks of code, as they are to doctest."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Puts each run of lines from `>>>` to an empty line into a fence."""

    def on_object(self, *, obj: griffe.Object, **_others: Any) -> None:
        """Rewrite the docstring of whatever was found."""
        if obj.docstring:
            obj.docstring.value = _EXAMPLE.sub(lambda one: f"```pycon\n{one[0]}\n```", obj.docstring.value)
