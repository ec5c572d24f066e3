"""Cut a file of code at its definitions, by its syntax, and find what it names; other languages are one piece.

A piece is a definition with the comments right above it: a function, or a class with its methods. A class that is
longer than a passage is cut at its methods; what stands between definitions is a piece of its own. Pieces are whole
lines, and all lines with a word in them are in one. What is a definition, an import, a route and so on is said by
queries in `config/code/`, a file for each language.
"""

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from memgraph_engine.errors import needed
from memgraph_engine.model.code import MODULE
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query

_KEYWORDS = ("endpoint", "command", "configuration", "library")
_ABOVE = ("comment", "line_comment", "block_comment", "attribute_item", "decorator")
_INSIDE = ("definition", "declaration")  # fields of what only stands around a definition
_MARK = re.compile(r"/\*+|\*/|\*|//+!?|#+!?|--+|;+")  # that opens a line of a comment
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)
_NO_DOCUMENTATION = re.compile(r"copyright|licen[cs]e|spdx|eslint|prettier|-\*-|^!|^/usr/|coding[:=]", re.IGNORECASE)
_SEPARATOR = re.compile(r"::|[./]")
_RULE = re.compile(r"[~=^*#-]{3,}")
_WORD = re.compile(r"\w")
_CLOSING = ("end", "endif", "#endif")  # what ends a container may stand behind its last definition
_DEEPEST = 200  # levels of a syntax tree at which is looked for what it holds
_NESTED = 20  # containers that are opened, one within the other
_IN_A_ROW = 1000  # marks without a name: a query looks ahead over all of them, from each
_OPEN = 256  # findings that a query has begun at once; it drops what goes beyond
_INDENT = 1000  # bytes before what opens a line
_LONGEST = 200  # characters of a sentence or a signature
_LONGEST_KEYWORD = 100
_LONGEST_NAME = 200  # characters: an id has room for the file's path too
_MOST = 60  # keywords of a piece


@dataclass(frozen=True)
class Piece:
    """A piece of a file: its qualified name (`MODULE` outside of definitions; others of a name have "@2" and so on).

    `keywords` are what it names, each with its kind: symbol, endpoint, command, configuration, library or file.
    """

    name: str
    text: str
    signature: str = ""
    keywords: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Cut:
    """A file in pieces; `about` is the first sentence that it says of itself, `remark` why it is not cut better."""

    pieces: Sequence[Piece]
    language: str = ""
    about: str = ""
    remark: str = ""


@dataclass
class _Definition:
    """A definition by its lines, the first and the last; `inner` are those inside a container."""

    name: str
    first: int
    last: int
    signature: str
    container: bool
    inner: list["_Definition"] = field(default_factory=list)


def available() -> None:
    """Raise MissingExtra unless files can be cut by their syntax."""
    with needed("Reading code by its syntax", "code"):
        import_module("tree_sitter")


def cut(file: str, text: str, limit: int) -> Cut:
    """Cut the text of a file of this name; `limit` is from which length on a class is cut at its methods.

    Raises MissingExtra without tree-sitter.
    """
    available()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    suffix = PurePath(file).suffix.lower()
    language = next((language for language, given in _languages().items() if suffix in given["suffixes"]), "")
    known = _grammar(language) if language else None
    if known is None:
        package = _languages()[language]["package"] if language else ""
        why = f"{package} is not installed" if package else "no grammar for its language"
        return _uncut(file, text, language, why)
    try:
        found = _Syntax(text, *known)
    except _TooManyMarks as error:
        return _uncut(file, text, language, str(error))
    name = ("file", PurePath(file).name)  # of every piece, whichever stands first
    pieces = [replace(piece, keywords=(*piece.keywords, name)) for piece in found.pieces(limit)]
    line = found.error
    why = f"a syntax error in line {line}" if line else "too much is nested or in a row" if found.dropped else ""
    remark = f"{why}: cut as far as it can be read" if why else ""
    return Cut(_named(pieces), language, found.about, remark)


def _uncut(file: str, text: str, language: str, why: str) -> Cut:
    name = (("file", PurePath(file).name),)
    return Cut(_named([Piece(MODULE, text.strip("\n"), "", name)]), language, remark=f"{why}: cut at blank lines")


def _named(pieces: Sequence[Piece]) -> list[Piece]:
    """Leave out what has no word, cut long names in their middle, and tell pieces of one name apart."""
    seen: Counter[str] = Counter()
    found = []
    for piece in pieces:
        if _WORD.search(piece.text) and piece.text.strip() not in _CLOSING:
            name = piece.name
            if len(name) > _LONGEST_NAME:
                name = f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 + 1 :]}"
            seen[name] += 1
            found.append(replace(piece, name=f"{name}@{seen[name]}" if seen[name] > 1 else name))
    return found


@dataclass
class _Level:
    """Where a walk is among siblings: the lines of the comments right above, -1 for none, and the marks in a row."""

    first: int = -1
    last: int = -1
    marks: int = 0


class _TooManyMarks(Exception):
    """Why a syntax tree is not searched."""


class _Syntax:
    """A file's syntax: its definitions, nested as they stand, and what it names, by lines.

    What stands deeper than `_DEEPEST` in its tree is not looked for: the time that a query takes grows with the square
    of the depth. Raises _TooManyMarks.
    """

    def __init__(self, text: str, language: "Language", query: "Query") -> None:
        from tree_sitter import Parser, QueryCursor

        self._bytes = text.encode()
        self._lines = text.split("\n")
        self._rows = self._bytes.split(b"\n")
        self._root = Parser(language).parse(self._bytes).root_node
        self._above = dict(self._commented())
        self.about = ""
        self._named: list[tuple[int, str, str]] = []
        found: list[_Definition] = []
        cursor = QueryCursor(query, match_limit=_OPEN)
        cursor.set_max_start_depth(_DEEPEST)
        for _, captures in cursor.matches(self._root):
            if one := captures.get("definition") or captures.get("container"):
                within = [_text(node) for node in captures.get("within", ())]
                name = ".".join([*within, *map(_text, captures["name"])])
                found.append(self._definition(one[0], name, container="container" in captures))
            elif about := captures.get("about"):
                self.about = self.about or _first_sentence(_text(about[0]))
            else:
                self._name(captures)
        self.dropped = cursor.did_exceed_match_limit
        self._definitions = self._nested(found)
        self._named.sort()

    @property
    def error(self) -> int:
        """The line of the first syntax error, counted from 1; 0 for none."""
        node: Node | None = self._root if self._root.has_error else None
        while node and not (node.is_error or node.is_missing):
            below = next((one for one in node.children if one.has_error or one.is_missing), None)
            if below is None:
                break
            node = below
        return node.start_point[0] + 1 if node else 0

    def pieces(self, limit: int) -> Iterator[Piece]:
        """Yield all of it, in order."""
        yield from self._between(self._definitions, 0, len(self._lines) - 1, "", "", limit)

    def _between(
        self, some: Sequence[_Definition], first: int, last: int, within: str, signature: str, limit: int
    ) -> Iterator[Piece]:
        at = first
        for one in some:
            if one.first > at:
                yield self._piece(within or MODULE, at, one.first - 1, signature)
            name = f"{within}.{one.name}" if within else one.name
            if one.inner and sum(len(line) + 1 for line in self._lines[one.first : one.last + 1]) > limit:
                yield from self._between(one.inner, one.first, one.last, name, one.signature, limit)
            else:
                yield self._piece(name, one.first, one.last, one.signature)
            at = one.last + 1
        if at <= last:
            yield self._piece(within or MODULE, at, last, signature)

    def _piece(self, name: str, first: int, last: int, signature: str) -> Piece:
        while first < last and not self._lines[first].strip():
            first += 1
        text = "\n".join(self._lines[first : last + 1]).rstrip()
        start, end = bisect_left(self._named, (first,)), bisect_right(self._named, (last + 1,))
        words = list(dict.fromkeys((kind, word) for _, kind, word in self._named[start:end]))
        return Piece(name, text, signature, tuple(words[:_MOST]))

    def _definition(self, node: "Node", name: str, *, container: bool) -> _Definition:
        first = self._above.get(node.id, node.start_point[0]) if self._opens_line(node) else -1
        return _Definition(name, first, _last(node), self._signature(node), container)

    def _commented(self) -> Iterator[tuple[int, int]]:
        """Yield what has comments and the like right above it, by its id, with the line in which these begin.

        One walk over the whole tree: to ask a node for its sibling takes as long as it has siblings.
        """
        cursor = self._root.walk()
        levels = [_Level()]
        while True:
            level, node = levels[-1], cursor.node
            assert node
            level.marks = 0 if node.is_named else level.marks + 1
            if level.marks > _IN_A_ROW:
                raise _TooManyMarks(f"more than {_IN_A_ROW:,} marks in a row and no word between them")
            near = level.first >= 0 and node.start_point[0] <= level.last + 1
            if node.type in _ABOVE and self._opens_line(node):
                level.first, level.last = level.first if near else node.start_point[0], _last(node)
            else:
                if near:
                    yield node.id, level.first
                level.first = -1
            if cursor.goto_first_child():
                levels.append(_Level())
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                levels.pop()

    def _opens_line(self, node: "Node") -> bool:
        row, column = node.start_point
        return column <= _INDENT and not self._rows[row][:column].strip()

    def _signature(self, node: "Node") -> str:
        """Return a definition without its body: what it is called, takes and returns."""
        inner = node
        while not (body := inner.child_by_field_name("body")):
            below = next(filter(None, map(inner.child_by_field_name, _INSIDE)), None)
            if below is None:
                break
            inner = below
        found = self._bytes[inner.start_byte : body.start_byte] if body else _bytes(inner).partition(b"\n")[0]
        return " ".join(found.decode(errors="replace").split())[:_LONGEST].rstrip(" {:=")

    def _nested(self, found: Sequence[_Definition]) -> list[_Definition]:
        """Put definitions into the containers that they stand in; what is inside another definition is part of it."""
        top: list[_Definition] = []
        open_: list[_Definition] = []
        for one in sorted(found, key=lambda one: (one.first, -one.last, not one.container)):
            if one.first < 0:
                continue
            while open_ and one.first > open_[-1].last:
                open_.pop()
            around = open_[-1] if open_ else None
            if around and (one.last > around.last or (one.name, one.last) == (around.name, around.last)):
                continue  # the same without its decorators; or two that share a line
            if len(one.name) <= _LONGEST_KEYWORD:
                self._named.append((one.first, "symbol", one.name))
            if not around:
                top.append(one)
            elif around.container and one.first > around.first and len(open_) <= _NESTED:
                around.inner.append(one)
            open_.append(one)
        return top

    def _name(self, captures: "dict[str, list[Node]]") -> None:
        for kind in _KEYWORDS:
            for node in captures.get(kind, ()):
                word = _text(node).strip("\"'<>")
                if word and len(word) <= _LONGEST_KEYWORD:
                    self._named.append((node.start_point[0], kind, word))
                    root = _SEPARATOR.split(word)[0]
                    if kind == "library" and root and root != word:
                        self._named.append((node.start_point[0], kind, root))


def _bytes(node: "Node") -> bytes:
    return node.text or b""


def _text(node: "Node") -> str:
    return " ".join(_bytes(node).decode(errors="replace").split()) if node.type != "comment" else _bytes(node).decode()


def _last(node: "Node") -> int:
    """Return the last line of a node; some end with the line break."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _first_sentence(text: str) -> str:
    """Return the first sentence of what a file says of itself; '' for a licence, or a note to a program."""
    lines = (_MARK.sub("", line.strip(), count=1) if _MARK.match(line.strip()) else line for line in text.split("\n"))
    said = " ".join(_RULE.sub("", "\n".join(line.strip().removesuffix("*/") for line in lines)).split())
    if _NO_DOCUMENTATION.search(said):
        return ""
    found = _SENTENCE.match(said)
    return (found[1] if found else said)[:_LONGEST]


@cache
def _languages() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resource("config", "code", "languages.toml").read_text(encoding="utf-8"))


@cache
def _grammar(language: str) -> "tuple[Language, Query] | None":
    """Return a grammar and what is looked for in its trees; None if its package is not installed."""
    from tree_sitter import Language, Query

    given = _languages()[language]
    try:
        module = import_module(given["package"].replace("-", "_"))
    except ImportError:
        return None
    grammar = Language(getattr(module, given.get("grammar", "language"))())
    queries = resource("config", "code", f"{given['queries']}.scm").read_text(encoding="utf-8")
    return grammar, Query(grammar, queries)
