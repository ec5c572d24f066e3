"""Load every Cypher statement from `cypher/`, and check it against its header.

A file holds one statement. Its header comment says what it does, then names each parameter with its type
(`// $scope: string`, or `// $write.erase: list<string>` for an entry of a map), and what comes back
(`// returns id, text`).

What stands between `// if $a` and `// end` is sent only where that is given: not null, 0, false or empty. The server
plans all that it is sent, whether it will run or not, and a long statement takes it seconds.

`// use notes/nearest limit=$pool` stands for the lines of `cypher/fragments/notes/nearest.cypher`, with `$pool` for
`<limit>`. So statements share what they have in common, also where it differs by the name of an index, which can be no
parameter.

A database may hold several sets of vectors, each of one embedder. Files name the properties and indexes of the first;
those of set 2 are called `raw_embedding_2`, `note_raw_2` and so on. No number is given twice, so a statement finds the
vectors that it means, or none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from typing import Any

from memgraph_engine.resources import resource

_PARAMETER = re.compile(r"\$([a-z_.]+)")
_DECLARED = re.compile(r"// \$([a-z_.]+): \S.*")
_USE = re.compile(r"^( *)// use ([a-z_/]+)(.*)$", re.MULTILINE)
_IF = re.compile(r"// if \$([a-z_.]+)")
_END = "// end"
_FRAGMENTS = "fragments/"
_VECTOR = re.compile(r"(?:(?:raw_|context_)?embedding|resting)(?:_\d+)?")
_OF_VECTORS = re.compile(
    r"(?<![\w$])(?:(?:raw|context|keyword|topic|block|claim)_embedding|embedding|resting|note_raw|note_context)\b"
)


VECTORS = ("raw_embedding", "context_embedding", "embedding", "resting")


@dataclass(frozen=True)
class Part:
    """Lines of a statement, and the parameter that must be given for them to be sent; '' where they always are.

    It `declares` the parameters that are named among its lines.
    """

    text: str
    need: str = ""
    declares: tuple[str, ...] = ()

    def is_sent(self, given: Mapping[str, Any]) -> bool:
        """Say whether the server gets it with these parameters."""
        return not self.need or bool(given[self.need])


@dataclass(frozen=True)
class Statement:
    """One statement: its name ("notes/propose"), the parts of its text in order, and the parameters it takes."""

    name: str
    parts: tuple[Part, ...]
    parameters: frozenset[str]

    def needs(self, of: str) -> dict[str, str]:
        """Return what must be given for a part to be sent, by the entries of a map that it declares; '' for nothing."""
        declared = {path: part.need for part in self.parts for path in part.declares}
        return {path.removeprefix(f"{of}."): need for path, need in declared.items() if path.startswith(f"{of}.")}

    @property
    def text(self) -> str:
        """The statement with all its parts, as its file has it."""
        return "\n".join(part.text for part in self.parts)

    def call(self, given: Mapping[str, Any], before: tuple[str, ...] = ()) -> tuple[str, dict[str, Any]]:
        """Return the text that the server gets, and all that it is given in one parameter.

        What is to stand `before` the statement takes its parameters from the same map.

        The server compiles a statement anew for each kind of parameters that it has not seen, and takes lists of other
        lengths for other kinds. Of a map it asks nothing. Commands of the schema are run once, and take no maps.
        """
        if self.name.startswith("schema/"):
            return f"CYPHER 25\n{self.text}", dict(given)
        texts = tuple(part.text for part in self.parts if part.is_sent(given))
        return _sent((*before, *texts)), {"given": _UnreadMap(given)}

    def whole(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the same with all parts, whatever is given."""
        return _sent(tuple(part.text for part in self.parts)), {"given": _UnreadMap(given)}


@cache
def _sent(parts: tuple[str, ...]) -> str:
    return "CYPHER 25\n" + _PARAMETER.sub(r"$given.\1", "\n".join(parts))


class _UnreadMap(dict[str, Any]):
    """What isn't rendered as text: the driver renders parameters for its log, also where nobody has one.

    Those of a batch of 256 long messages are 36 MB.
    """

    def __repr__(self) -> str:
        return f"<{len(self)} entries>"


class BrokenStatement(Exception):
    """A file in `cypher/`, or a call of it, is at odds with its header: a mistake in this package."""


@cache
def statements(vectors: int = 1) -> dict[str, Statement]:
    """Return all statements by name, as they name a set of vectors; raises BrokenStatement where a header is wrong."""
    files = {name: text for name, text in _files().items() if not name.startswith(_FRAGMENTS)}
    return {name: _parse(name, text, vectors) for name, text in files.items()}


def guard() -> tuple[str, ...]:
    """Return what stands before each statement of a tenant that may live on another server."""
    return (statements()["servers/here"].text.removesuffix("\nRETURN away"),)


def of_set(text: str, vectors: int) -> str:
    """Return a text that names properties or indexes of vectors as it names those of a set.

    >>> of_set("k.embedding", 1), of_set("k.embedding", 3)
    ('k.embedding', 'k.embedding_3')
    """
    return text if vectors == 1 else _OF_VECTORS.sub(rf"\g<0>_{vectors}", text)


@cache
def _files() -> dict[str, str]:
    """Return the texts of all files by name."""
    folder = resource("cypher")
    paths = sorted(folder.rglob("*.cypher"))
    return {path.relative_to(folder).with_suffix("").as_posix(): path.read_text("utf-8") for path in paths}


def first_set(properties: Mapping[str, Any], vectors: int) -> dict[str, Any]:
    """Return properties with the vectors of a set by the names of the first, and without those of others.

    >>> first_set({"embedding": [1.0], "embedding_2": [2.0], "name": "a"}, 2)
    {'name': 'a', 'embedding': [2.0]}
    """
    own = {of_set(name, vectors): name for name in VECTORS}
    known = {name: value for name, value in properties.items() if not _VECTOR.fullmatch(name)}
    return known | {name: properties[given] for given, name in own.items() if given in properties}


def _parse(name: str, text: str, vectors: int = 1) -> Statement:
    parts = tuple(_parts(name, of_set(_with_fragments(name, text), vectors).splitlines()))
    if not text.startswith("//") or not parts:
        raise BrokenStatement(f"{name}: a header comment and a statement are needed")
    declared = {path for part in parts for path in part.declares}
    paths = {path for part in parts for path in (*_PARAMETER.findall(part.text), part.need) if path}
    used = {path if path in declared else _first(path) for path in paths}
    if declared != used:
        raise BrokenStatement(f"{name}: header and body differ in {sorted(declared ^ used)}")
    return Statement(name, parts, frozenset(map(_first, declared)))


def _first(path: str) -> str:
    return path.partition(".")[0]


def _with_fragments(name: str, text: str) -> str:
    """Return a statement's text with those of the fragments that it uses."""

    def written_out(use: re.Match[str]) -> str:
        margin, fragment, words = use.groups()
        used = _files().get(_FRAGMENTS + fragment)
        if used is None:
            raise BrokenStatement(f"{name}: it uses {fragment}, which is not in cypher/{_FRAGMENTS}")
        for word, value in (one.split("=") for one in words.split()):
            used = used.replace(f"<{word}>", value)
        return indent(_with_fragments(name, used.rstrip()), margin)

    return _USE.sub(written_out, text)


def _parts(name: str, lines: Iterable[str]) -> Iterator[Part]:
    """Yield the lines that are no comments, cut where what is not always sent begins and ends."""
    held, declares, need = list[str](), list[str](), ""
    for line in map(str.rstrip, [*lines, _END]):
        begins = _IF.fullmatch(line.strip())
        if line and not line.strip().startswith("//"):
            held.append(line)
        elif declared := _DECLARED.fullmatch(line):
            declares.append(declared[1])
        elif begins or line.strip() == _END:
            if begins and need:
                raise BrokenStatement(f"{name}: a part that is not always sent holds no other one")
            if held:
                yield Part("\n".join(held), need, tuple(declares))
            held, declares, need = [], [], begins[1] if begins else ""
