"""The file that holds one memory: JSON lines, each of them a node or a relationship, between a first and a last line.

The first line says what the file is: format, schema, embedder, whose memory it is, and how much there is of it. Nodes
follow, numbered in an order that does not change, then relationships, which name nodes by their numbers. The last line
has the SHA-256 of all bytes before it. Nothing in it depends on the place or the time of an export, so the same memory
makes the same file. What follows from a scope's name is left out, and so is what only tells versions apart in caches.
"""

import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, timezone, tzinfo
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

import pytz
from neo4j.time import Date, DateTime

from memgraph_engine.errors import InvalidInput, StoreError, StoreMismatch
from memgraph_engine.graph import schema
from memgraph_engine.graph.copying import exact, parted
from memgraph_engine.graph.database import Row
from memgraph_engine.graph.statements import statements

FORMAT = "memgraph-engine memory 1"
_MADE_ANEW = {"scope", "tenant", "user", "scope_token", "raw_scoped", "context_scoped", "stamp", "lock"}
"""Properties that no file holds: they follow from the scope's name, or are drawn for each version of a note."""


@cache
def labels() -> frozenset[str]:
    """Return what the nodes of a memory are, by the statement that reads them all.

    An erasure is none of them: it is carried out before anything is exported.
    """
    return frozenset(re.findall(r"\(x:(\w+)", statements()["copy/members"].text))


@dataclass(frozen=True, slots=True)
class Head:
    """The first line: what the file is, whose memory it holds, and how much of it."""

    format: str
    schema: int
    embedder: str
    dimensions: int
    tenant: str
    user: str
    nodes: Mapping[str, int]
    relationships: int

    @property
    def total(self) -> int:
        """How many lines there are between the first and the last."""
        return sum(self.nodes.values()) + self.relationships


class Writer:
    """Writes the lines of a file in order; `end` writes the last one."""

    def __init__(self, file: IO[bytes], head: Head) -> None:
        self._file, self._sum = file, hashlib.sha256()
        self._head, self._number = head, 0
        self._put(asdict(head))

    def node(self, row: Row) -> None:
        """Write a node, which gets the next number; `of` is what the id of a note was made from, if that is known."""
        given = parted(row, self._head.dimensions)
        properties = {name: value for name, value in given["properties"].items() if name not in _MADE_ANEW}
        told = {"node": self._number, "labels": row["labels"], "properties": _told(properties, row["labels"])}
        vectors = {name: b64encode(vector.tobytes()).decode() for name, vector in given["vectors"].items()}
        more = {"vectors": vectors, "of": row.get("of")}
        self._put({**told, **{name: value for name, value in more.items() if value}})
        self._number += 1

    def relationship(self, row: Row) -> None:
        """Write a relationship between nodes, which are named by their numbers."""
        properties = _told(exact(row["properties"]), row["kind"])
        self._put({"from": row["a"], "type": row["kind"], "to": row["b"], "properties": properties})

    def end(self) -> str:
        """Write the last line, and return the sum that is in it."""
        digest = self._sum.hexdigest()
        self._put({"nodes": self._number, "relationships": self._head.relationships, "sha256": digest})
        return digest

    def _put(self, line: Mapping[str, object]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        data = text.encode() + b"\n"
        self._sum.update(data)
        self._file.write(data)


@dataclass(frozen=True, slots=True)
class Line:
    """A line between the first and the last, as it is read: a node with its number, or a relationship."""

    number: int
    node: Row | None = None
    relationship: Row | None = None


class Reader:
    """Reads a file, and refuses what is no export, is damaged, or can't be put into this database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opened() as file:
            self.head = self._first(file.readline())

    def fits(self, embedder: str, dimensions: int) -> None:
        """Raise StoreMismatch where the file was written with another embedder or schema than this database has."""
        head = self.head
        if (head.embedder, head.dimensions) != (embedder, dimensions):
            raise StoreMismatch(
                f"{self.path} holds vectors of {head.embedder} ({head.dimensions} numbers), and this database those of "
                f"{embedder} ({dimensions}). Nothing was imported; import it into a database that has that embedder."
            )
        if head.schema != schema.VERSION:
            raise StoreMismatch(
                f"{self.path} was written with schema {head.schema}, and this process writes schema {schema.VERSION}. "
                "Nothing was imported. Import it with the package version that wrote it, upgrade that database, and "
                "export it anew."
            )

    def lines(self) -> Iterator[Line]:
        """Yield all lines between the first and the last; raises InvalidInput where one is damaged, or at the end.

        So whoever has read all of it knows that it is whole.
        """
        digest, nodes, ties = hashlib.sha256(), Counter[str](), 0
        with self._opened() as file:
            digest.update(file.readline())
            for number, data in enumerate(file, 2):
                parsed = self._parsed(data, number)
                if "sha256" in parsed:
                    self._last(parsed, digest.hexdigest(), number, nodes, ties)
                    if rest := file.read(1):
                        self._refuse(number + 1, f"the last line is before it, and {rest!r} follows")
                    return
                digest.update(data)
                if "node" in parsed:
                    row = self._node(parsed, sum(nodes.values()), number)
                    nodes[row["labels"][0]] += 1
                    yield Line(number, node=row)
                else:
                    ties += 1
                    yield Line(number, relationship=self._relationship(parsed, sum(nodes.values()), number))
        raise InvalidInput(
            f"{self.path} has no last line: it was cut off after line {1 + sum(nodes.values()) + ties}. Nothing was "
            "imported; take a whole copy, or export the memory anew."
        )

    def _opened(self) -> IO[bytes]:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise InvalidInput(f"{self.path} can't be read: {error.strerror}.") from None

    def _first(self, data: bytes) -> Head:
        try:
            given = json.loads(data)
            head = Head(**given)
            known = head.format == FORMAT and head.total > 0 and head.nodes["Scope"] == 1
        except (ValueError, TypeError, AttributeError, KeyError):
            known = False
        if not known:
            raise InvalidInput(
                f"{self.path} is no export of a memory: its first line does not say {FORMAT!r}. Nothing was imported. "
                "Messages and documents are stored by `ingest`."
            )
        return head

    def _parsed(self, data: bytes, number: int) -> Row:
        try:
            parsed = json.loads(data)
        except ValueError as error:
            self._refuse(number, f"it is no JSON ({error})")
        if not isinstance(parsed, dict):
            self._refuse(number, "it is no object")
        return parsed

    def _node(self, given: Row, expected: int, number: int) -> Row:
        try:
            (label,) = given["labels"]
            properties = {name: _read(value) for name, value in given["properties"].items()}
            vectors = {name: self._vector(text) for name, text in given.get("vectors", {}).items()}
            of = given.get("of")
            if of is not None:
                of = (str(of[0]), int(of[1] or 0))
        except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
            self._refuse(number, f"it is no node ({error})")
        if given["node"] != expected:
            self._refuse(number, f"it has the number {given['node']}, where {expected} is due")
        if label not in labels() or (label == "Scope") != (expected == 0):
            self._refuse(number, f"a node {label!r} has no place there")
        if strange := sorted(_MADE_ANEW & (properties.keys() | vectors.keys())):
            self._refuse(number, f"no export holds {strange[0]!r}")
        return {"id": expected, "labels": [label], "properties": properties, "vectors": vectors, "of": of}

    def _relationship(self, given: Row, nodes: int, number: int) -> Row:
        try:
            ends, kind = (given["from"], given["to"]), given["type"]
            properties = {name: _read(value) for name, value in given["properties"].items()}
            known = all(type(end) is int and 0 <= end < nodes for end in ends) and kind.replace("_", "").isalpha()
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            self._refuse(number, f"it is no relationship ({error})")
        if not known:
            self._refuse(number, "it ties no two nodes of the lines before")
        return {"a": ends[0], "b": ends[1], "kind": kind, "properties": properties}

    def _vector(self, text: str) -> Any:
        import numpy as np

        data = b64decode(text, validate=True)
        if len(data) != 4 * self.head.dimensions:
            raise ValueError(f"a vector of {len(data)} bytes, not {4 * self.head.dimensions}")
        return np.frombuffer(data, dtype="<f4")

    def _last(self, given: Row, digest: str, number: int, nodes: Counter[str], ties: int) -> None:
        if given["sha256"] != digest:
            raise InvalidInput(
                f"{self.path} was changed: its last line (line {number}) has the SHA-256 {given['sha256']}, and what "
                f"stands before has {digest}. Nothing was imported; take another copy, or export the memory anew."
            )
        if dict(nodes) != self.head.nodes or ties != self.head.relationships:
            self._refuse(number, f"it ends {sum(nodes.values())} nodes and {ties} relationships, of {self.head.total}")

    def _refuse(self, number: int, why: str) -> NoReturn:
        raise InvalidInput(
            f"Line {number} of {self.path} is damaged: {why}. Nothing was imported; take another copy, or export the "
            "memory anew."
        )


def _told(properties: Mapping[str, object], what: Sequence[str]) -> dict[str, object]:
    """Return properties as JSON holds them."""
    try:
        return {name: _written(value) for name, value in properties.items()}
    except TypeError as error:
        raise StoreError(f"A {what} has a property that no export can hold: {error}.") from None


def _written(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return [_written(one) for one in value]
    if isinstance(value, DateTime) and value.tzinfo is not None:
        zone = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
        return {"time": value.iso_format(), **({"zone": zone} if zone else {})}
    if isinstance(value, Date):
        return {"date": value.iso_format()}
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(one) for one in value]
    if not isinstance(value, dict):
        return value
    return Date.from_iso_format(value["date"]) if "date" in value else _moment(value["time"], value.get("zone"))


def _moment(text: str, zone: str | None) -> DateTime:
    at = DateTime.from_iso_format(text)
    offset = at.utc_offset()
    if offset is None:
        raise ValueError(f"a time without a zone, {text!r}")
    there: tzinfo = UTC if not offset else timezone(offset)
    at = at.replace(tzinfo=there)
    # a zone of the kind that the driver takes: zoneinfo takes the driver's times for Python's, and reads foreign memory
    return at.astimezone(pytz.timezone(zone)) if zone else at
