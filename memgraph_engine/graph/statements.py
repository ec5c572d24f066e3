"""Load every Cypher statement from `cypher/`, and check it against its header.

A file holds one statement. Its header comment says what it does, then names each parameter with its
type (`// $scope: string`) and what comes back (`// returns id, text`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from memgraph_engine.resources import resource

_PARAMETER = re.compile(r"\$([a-z_]+)")
_DECLARED = re.compile(r"^// \$([a-z_]+): \S", re.MULTILINE)


@dataclass(frozen=True)
class Statement:
    """One statement: its name ("notes/propose"), its text as its file has it, and the parameters it takes."""

    name: str
    text: str
    parameters: frozenset[str]

    def call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the text that the server gets, and all that it is given in one parameter.

        The server compiles a statement anew for each kind of parameters that it has not seen, and takes lists of other
        lengths for other kinds. Of a map it asks nothing. Commands of the schema are run once, and take no maps.
        """
        if self.name.startswith("schema/"):
            return f"CYPHER 25\n{self.text}", dict(given)
        return self._in_one, {"given": _UnreadMap(given)}

    @cached_property
    def _in_one(self) -> str:
        return "CYPHER 25\n" + _PARAMETER.sub(r"$given.\1", self.text)


class _UnreadMap(dict[str, Any]):
    """What isn't rendered as text: the driver renders parameters for its log, also where nobody has one.

    Those of a batch of 256 long messages are 36 MB.
    """

    def __repr__(self) -> str:
        return f"<{len(self)} entries>"


class BrokenStatement(Exception):
    """A file in `cypher/`, or a call of it, is at odds with its header: a mistake in this package."""


@cache
def statements() -> dict[str, Statement]:
    """Return all statements by name; raises BrokenStatement where a header and its body differ."""
    folder = resource("cypher")
    found = (
        _parse(path.relative_to(folder).with_suffix("").as_posix(), path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.cypher"))
    )
    return {statement.name: statement for statement in found}


def _parse(name: str, text: str) -> Statement:
    lines = text.splitlines()
    header = "\n".join(line for line in lines if line.startswith("//"))
    body = "\n".join(line for line in lines if not line.strip().startswith("//")).strip()
    if not header or not body:
        raise BrokenStatement(f"{name}: a header comment and a statement are needed")
    declared = frozenset(_DECLARED.findall(header))
    used = frozenset(_PARAMETER.findall(body))
    if declared != used:
        raise BrokenStatement(f"{name}: header and body differ in {sorted(declared ^ used)}")
    return Statement(name, body, declared)
