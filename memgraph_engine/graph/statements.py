"""Load every Cypher statement from `cypher/`, and check it against its header.

A file holds one statement. Its header comment says what it does, then names each parameter with its
type (`// $scope: string`) and what comes back (`// returns id, text`).
"""

import re
from dataclasses import dataclass
from functools import cache

from memgraph_engine.resources import resource

_PARAMETER = re.compile(r"\$([a-z_]+)")
_DECLARED = re.compile(r"^// \$([a-z_]+): \S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its name ("notes/recall"), the text the server gets, and the parameters it takes."""

    name: str
    text: str
    parameters: frozenset[str]


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
    return Statement(name, f"CYPHER 25\n{body}", declared)
