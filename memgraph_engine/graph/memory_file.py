"""The file that holds one memory: JSON lines, each of them a node or a relationship, between a first and a last line.

The first line says what the file is: format, schema, embedder, whose memory it is, and how much there is of it. Nodes
follow, numbered in an order that does not change, then relationships, which name nodes by their numbers. The last line
has the SHA-256 of all bytes before it. Nothing in it depends on the place or the time of an export, so the same memory
makes the same file. What follows from a scope's name is left out, and so is what only tells versions apart in caches.
"""

import hashlib
import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, timezone, tzinfo
from itertools import count
from pathlib import Path
from typing import IO, Any

import pytz
from neo4j.time import Date, DateTime

from memgraph_engine.arrays import np
from memgraph_engine.errors import InvalidInput, StoreError, StoreMismatch
from memgraph_engine.graph import schema
from memgraph_engine.graph.copying import exact, parted
from memgraph_engine.graph.database import Row
from memgraph_engine.graph.forms import MADE_ANEW, NODES, Whole
from memgraph_engine.model.memory import note_id
from memgraph_engine.model.scope import Scope

FORMAT = "memgraph-engine memory 1"
_LONGEST = 1 << 28  # bytes of a line


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
        self._head, self._whole = head, Whole(grown=True)
        self._put(asdict(head))

    def node(self, row: Row) -> None:
        """Write a node, which gets the next number; `of` is what the id of a note was made from, if that is known.

        Raises StoreError for what no import would take.
        """
        given, (label,) = parted(row, self._head.dimensions), row["labels"]
        properties = {name: value for name, value in given["properties"].items() if name not in MADE_ANEW}
        with _fit():
            self._whole.node(label, properties, given["vectors"])
        told = {"node": len(self._whole.labels) - 1, "labels": row["labels"], "properties": _told(properties)}
        vectors = {name: b64encode(vector.tobytes()).decode() for name, vector in given["vectors"].items()}
        more = {"vectors": vectors, "of": row.get("of")}
        self._put({**told, **{name: value for name, value in more.items() if value}})

    def relationship(self, row: Row) -> None:
        """Write a relationship between nodes, which are named by their numbers; raises StoreError likewise."""
        kind, properties = row["kind"], exact(row["properties"])
        with _fit():
            self._whole.tie(kind, row["a"], row["b"], properties)
        self._put({"from": row["a"], "type": kind, "to": row["b"], "properties": _told(properties)})

    def end(self) -> str:
        """Write the last line, and return the sum that is in it; raises StoreError likewise."""
        with _fit():
            self._whole.end()
        digest = self._sum.hexdigest()
        self._put({"nodes": len(self._whole.labels), "relationships": self._head.relationships, "sha256": digest})
        return digest

    def _put(self, line: Mapping[str, object]) -> None:
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        data = text.encode() + b"\n"
        self._sum.update(data)
        self._file.write(data)


class Reader:
    """Reads a file, and refuses what is no export, is damaged, or can't be put into this database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digest = ""
        with self._opened() as file:
            self.head = self._first(self._line(file, 1))
        self._scope = Scope(self.head.tenant, self.head.user or None).name

    def fits(self, embedder: str, dimensions: int, *, re_embed: bool = False) -> bool:
        """Say whether the file has this database's vectors.

        Raises StoreMismatch where it has another schema, and, unless it is to `re_embed`, another embedder.
        """
        head = self.head
        same = (head.embedder, head.dimensions) == (embedder, dimensions)
        if not (same or re_embed):
            raise StoreMismatch(
                f"{self.path} holds vectors of {head.embedder} ({head.dimensions} numbers), and this database those of "
                f"{embedder} ({dimensions}). Nothing was imported. Let its texts be embedded anew (`import "
                "--re-embed`), or import it into a database that has that embedder."
            )
        if head.schema != schema.VERSION:
            raise StoreMismatch(
                f"{self.path} was written with schema {head.schema}, and this process writes schema {schema.VERSION}. "
                "Nothing was imported. Import it with the package version that wrote it, upgrade that database, and "
                "export it anew."
            )
        return same

    def lines(self) -> Iterator[tuple[int, Row]]:
        """Yield all lines between the first and the last by their numbers; a node has labels, a relationship a kind.

        Raises InvalidInput where one is damaged, or at the end. So whoever has read all of it knows that it is whole.
        Read again, it must be the same.
        """
        digest, whole = hashlib.sha256(), Whole()
        with self._opened() as file:
            digest.update(self._line(file, 1))
            for number in count(2):
                data = self._line(file, number)
                if not data:
                    break
                with self._sound(number):
                    given = _object(data)
                    read = self._node if "node" in given else _relationship
                    row = None if "sha256" in given else read(whole, given)
                if not row:
                    self._end(whole, given["sha256"], digest.hexdigest(), number)
                    if self._line(file, number + 1):
                        raise self._damaged(number + 1, "the last line is before it")
                    return
                digest.update(data)
                yield number, row
        raise InvalidInput(
            f"{self.path} has no last line: it was cut off after line {number - 1}. Nothing was imported; take a whole "
            "copy, or export the memory anew."
        )

    def _opened(self) -> IO[bytes]:
        try:
            return self.path.open("rb")
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from None

    def _line(self, file: IO[bytes], number: int) -> bytes:
        try:
            data = file.readline(_LONGEST + 1)
        except OSError as error:
            raise self._unreadable(error) from None
        if len(data) > _LONGEST:
            raise self._damaged(number, f"it has more than {_LONGEST:,} bytes")
        return data

    def _unreadable(self, error: Exception) -> InvalidInput:
        why = getattr(error, "strerror", None) or error
        return InvalidInput(f"{self.path} can't be read: {why}. Nothing was imported.")

    def _first(self, data: bytes) -> Head:
        try:
            given = _object(data)
            if given.get("format") != FORMAT:
                raise ValueError
        except Exception:  # noqa: BLE001  whatever it is, it is no export
            raise InvalidInput(
                f"{self.path} is no export of a memory: its first line does not say {FORMAT!r}. Nothing was imported. "
                "Messages and documents are stored by `ingest`; what mem0, LangGraph's stores or chats have kept comes "
                "by `import mem0`, `import langgraph` or `import jsonl`."
            ) from None
        with self._sound(1):
            return _head(given)

    def _end(self, whole: Whole, told: object, digest: str, number: int) -> None:
        """Hold what was there against the last line and the first."""
        if told != digest or self._digest not in ("", digest):
            raise InvalidInput(
                f"{self.path} was changed: its last line (line {number}) has the SHA-256 {str(told)[:64]}, and what "
                f"stands before has {digest}. Nothing was imported; take another copy, or export the memory anew."
            )
        labels, head = whole.labels, self.head
        with self._sound(number):
            if dict(Counter(labels)) != head.nodes or whole.ties != head.relationships:
                raise ValueError(f"it ends {len(labels)} nodes and {whole.ties} relationships, of {head.total} in all")
            whole.end()
        self._digest = digest

    @contextmanager
    def _sound(self, number: int) -> Iterator[None]:
        """Say of whatever can't be made of a line that it is damaged."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  whatever it is
            raise self._damaged(number, _why(error)) from None

    def _damaged(self, number: int, why: str) -> InvalidInput:
        return InvalidInput(
            f"Line {number} of {self.path} is damaged: {why}. Nothing was imported; take another copy, or export the "
            "memory anew."
        )

    def _node(self, whole: Whole, given: Row) -> Row:
        _only(given, "node", "labels", "properties", "vectors", "of")
        expected, (label,) = len(whole.labels), given["labels"]
        if given["node"] != expected:
            raise ValueError(f"it has the number {given['node']!r}, where {expected} is due")
        if label not in NODES or (label == "Scope") != (expected == 0):
            raise ValueError(f"a node {label!r} has no place there")
        properties = {name: _read(value) for name, value in given["properties"].items()}
        vectors = {name: self._vector(text) for name, text in given.get("vectors", {}).items()}
        if strange := sorted(MADE_ANEW & (properties.keys() | vectors.keys())):
            raise ValueError(f"no export holds {strange[0]!r}")
        whole.node(label, properties, vectors)
        of = self._of(given["of"], properties["id"]) if "of" in given else None
        return {"id": expected, "labels": [label], "properties": properties, "vectors": vectors, "of": of}

    def _of(self, given: Any, id: str) -> tuple[str, int]:
        source, part = given
        if type(source) is not str or type(part) is not int or note_id(self._scope, source, part) != id:
            raise ValueError(f"the id {id!r} was not made from {given!r}")
        return source, part

    def _vector(self, text: str) -> Any:
        data = b64decode(text, validate=True)
        if len(data) != 4 * self.head.dimensions:
            raise ValueError(f"a vector of {len(data)} bytes, not {4 * self.head.dimensions}")
        vector = np.frombuffer(data, dtype="<f4")
        norm = float(np.linalg.norm(vector.astype(np.float64)))
        if not 0 < norm < np.finfo(np.float32).max:
            raise ValueError("a vector that has no direction")
        return vector


def _relationship(whole: Whole, given: Row) -> Row:
    _only(given, "from", "type", "to", "properties")
    first, second, kind = given["from"], given["to"], given["type"]
    if not all(type(end) is int and 0 <= end < len(whole.labels) for end in (first, second)):
        raise ValueError("it ties no two nodes of the lines before")
    properties = {name: _read(value) for name, value in given["properties"].items()}
    whole.tie(kind, first, second, properties)
    return {"a": first, "b": second, "kind": kind, "properties": properties}


def _object(data: bytes) -> Row:
    """Return the object that a line holds; raises ValueError, or RecursionError."""
    try:
        given = json.loads(data, parse_constant=_no_number)
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error})") from None
    if not isinstance(given, dict):
        raise ValueError("it is no object")
    return given


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _only(given: Row, *names: str) -> None:
    if strange := sorted(given.keys() - set(names)):
        raise ValueError(f"it has {strange[0]!r}, which no line has")


def _why(error: Exception) -> str:
    if isinstance(error, ValueError):
        return str(error).rstrip(".")
    if type(error) is KeyError:
        return f"it lacks {error}"
    return f"it can't be read ({type(error).__name__}: {error})"


def _head(given: Row) -> Head:
    head = Head(**given)
    numbers = [head.schema, head.dimensions, head.relationships, *head.nodes.values()]
    if not all(type(one) is int and 0 <= one < 1 << 53 for one in numbers) or not head.dimensions:
        raise ValueError("schema, dimensions, and how many nodes and relationships there are, are whole numbers")
    if not all(isinstance(given[name], str) for name in ("embedder", "user")):
        raise ValueError("embedder and user are texts")
    if strange := sorted(head.nodes.keys() - NODES.keys()):
        raise ValueError(f"a memory has no {strange[0]!r}")
    if head.nodes.get("Scope") != 1:
        raise ValueError("a memory has one Scope")
    Scope(head.tenant, head.user or None)  # refuses what can't be one
    return head


@contextmanager
def _fit() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise StoreError(
            f"What is stored can't be exported: {error}. Another program may have written it, or a package of another "
            "version; `memgraph-engine db backup` copies it as it is."
        ) from None


def _told(properties: Mapping[str, object]) -> dict[str, object]:
    """Return properties as JSON holds them."""
    return {name: _written(value) for name, value in properties.items()}


def _written(value: Any) -> Any:
    if isinstance(value, list):
        return [_written(one) for one in value]
    if isinstance(value, DateTime):
        zone = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
        return {"time": value.iso_format(), **({"zone": zone} if zone else {})}
    if isinstance(value, Date):
        return {"date": value.iso_format()}
    return value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(one) for one in value]
    if not isinstance(value, dict):
        return value
    _only(value, "date" if "date" in value else "time", "zone")
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
