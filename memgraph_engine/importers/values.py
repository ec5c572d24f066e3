"""What files of other programs hold: JSON values, one at a time however long a file is, databases of SQLite, times.

JSON comes as lines, an array, pages of an API, or one value after another. An array or a page may stand on a single
line: what is held in memory is one entry of it, and a piece of the file.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from io import TextIOWrapper
from pathlib import Path
from typing import IO, BinaryIO, cast
from urllib.parse import quote

from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest.files import Unreadable, marked
from memgraph_engine.ingest.readers import Unread, loads, start

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"-?\d{9,16}(\.\d+)?")
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_LATEST = 1e11  # seconds, in the year 5138; a larger number has thousandths or millionths of them

Value = tuple[int, object]
"""A value and the line that it begins at, from 1; what can't be read is an Unread, which says why."""

_PIECE = 1 << 20  # characters that are read at once
_LONGEST = 1 << 25  # characters of a value
_SQLITE = b"SQLite format 3\0"
_BLANKS = re.compile(r"[ \t\r\n]*")
_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')
_BEHIND = re.compile(r"[\s,:\[\]{}\"]")  # a number, true, false or null
_TOO_LONG = Unread(f"longer than {_LONGEST:,} characters")
_REST = "so the rest of the file is not read"


def is_sqlite(path: Path) -> bool:
    """Tell whether a file is a database of SQLite; raises InvalidInput if it can't be read."""
    return start(path).startswith(_SQLITE)


class Values:
    """Reads the values of a file, of which the `share` is read so far, from 0 to 1.

    An object that has one of `lists` is a page: the entries of this list are the values.
    """

    def __init__(self, path: Path, lists: Sequence[str] = ()) -> None:
        self.path, self.share = path, 0.0
        self._lists, self._encoding = lists, marked(start(path)) or "utf-8"

    def __iter__(self) -> Iterator[Value]:
        """Yield the values, in their order."""
        size = max(self.path.stat().st_size, 1)
        with self.path.open("rb") as raw, self._text(raw) as file:
            try:
                found = _lines(file) if self._in_lines(file) else _Document(file, self._lists).values()
                for line, value in found:
                    self.share = raw.tell() / size
                    yield from ((line, one) for one in self._entries(value))
            except Unreadable as error:
                yield error.line, Unread(error)
            except UnicodeError:
                yield 0, Unread(f"not {self._encoding.upper()}, {_REST}")

    def _text(self, raw: IO[bytes]) -> IO[str]:
        # of what is not UTF-8 the rest of the file can be read
        errors = "surrogateescape" if self._encoding == "utf-8" else "strict"
        encoding = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
        return TextIOWrapper(cast("BinaryIO", raw), encoding, errors, newline="\n")

    def _in_lines(self, file: IO[str]) -> bool:
        """Tell whether each line is a value, from the first two that are not empty; the file is at its start after."""
        some = (line for line in iter(lambda: file.readline(_PIECE), "") if line.strip())
        first = next(some, "")
        length, long = len(first), not first.endswith("\n") and len(first) == _PIECE
        for rest in some if long else ():
            length += len(rest)
            if rest.endswith("\n") or length > _LONGEST:
                break
        second = next(some, "").lstrip()
        file.seek(0)
        begins = first.lstrip()[:1]
        if long:  # too long to be read twice
            goes_on = length <= _LONGEST and second.startswith(begins) and not self._is_page(first)
            return begins not in ("{", "[") or goes_on
        whole = not isinstance(loads(first), Unread)
        if begins == "[":
            return whole and bool(second)
        return begins != "{" or whole or (first.strip() != "{" and second.startswith("{") and not self._is_page(first))

    def _is_page(self, text: str) -> bool:
        return any(re.match(rf'\s*\{{\s*"{name}"\s*:\s*\[', text) for name in self._lists)

    def _entries(self, value: object) -> Iterator[object]:
        """Yield the entries of a page, else the value itself."""
        page = value if isinstance(value, dict) else {}
        some = next((page[name] for name in self._lists if isinstance(page.get(name), list)), None)
        yield from [value] if some is None else some


def _lines(file: IO[str]) -> Iterator[Value]:
    number, long = 0, False
    while text := file.readline(_LONGEST):
        number += not long
        ends = text.endswith("\n")
        if not long and (ends or len(text) < _LONGEST):
            if text.strip():
                yield number, parsed(text)
        elif not long:
            yield number, _TOO_LONG
        long = not ends


def parsed(text: str) -> object:
    """Return what a text is as JSON; an Unread where it is none, or was no UTF-8 in its file."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return Unread(f"not UTF-8 at character {error.start + 1}")
    return loads(text)


class _Document:
    """Reads values that may go over many lines, or all stand on one. Raises Unreadable where it is no JSON."""

    def __init__(self, file: IO[str], lists: Sequence[str]) -> None:
        self._file, self._lists = file, lists
        self._text, self._at, self._line, self._read = "", 0, 1, 0

    def values(self) -> Iterator[Value]:
        """Yield the values; those of an array, and of a list of a page, one by one."""
        while mark := self._next():
            if mark == "[":
                yield from self._array()
            elif mark == "{":
                yield from self._object()
            else:
                raise self._wrong(f"{mark!r} begins no object and no array")

    def _array(self) -> Iterator[Value]:
        for mark in self._entries("]", "array"):
            if mark in ",}:":
                raise self._wrong(f"{mark!r} is no value")
            yield self._value()

    def _object(self) -> Iterator[Value]:
        line, own, paged, begins = self._line, dict[str, object](), False, self._read
        for mark in self._entries("}", "object"):
            if mark != '"':
                raise self._wrong(f"{mark!r} is no name")
            _, name = self._value()
            if isinstance(name, Unread):
                raise self._wrong(f"a name can't be read ({str(name).removeprefix('no JSON: ')})")
            if self._next() != ":":
                raise self._wrong("a colon is missing")
            self._at += 1
            if self._next() == "[" and name in self._lists:
                paged = True
                yield from self._array()
            elif self._next() in ("", ",", "}", "]", ":"):
                raise self._wrong("a value is missing")
            else:
                _, own[str(name)] = self._value()
            if self._read - begins > _LONGEST + _PIECE:  # what it holds is not kept
                own = {"": _TOO_LONG}
        if not paged:
            yield line, next((one for one in own.values() if isinstance(one, Unread)), own)

    def _entries(self, end: str, what: str) -> Iterator[str]:
        """Go over brackets and commas; yield how each entry begins, for whoever asks to go over that."""
        self._at += 1
        while (mark := self._next()) != end:
            if not mark:
                raise self._wrong(f"the {what} is not closed")
            yield mark
            mark = self._next()
            if mark == ",":
                self._at += 1
            elif mark != end:
                raise self._wrong("it is not closed" if not mark else "a comma is missing")
        self._at += 1

    def _value(self) -> Value:
        """Return the value that begins here."""
        line, kept, length = self._line, list[str](), 0
        for part in self._parts():
            length += len(part)
            kept = [*kept, part] if length <= _LONGEST else []
        return line, parsed("".join(kept)) if length <= _LONGEST else _TOO_LONG

    def _parts(self) -> Iterator[str]:
        """Go to the end of the value that begins here, and yield its text in pieces."""
        plain = self._text[self._at] not in '"{['
        depth, within, at = 0, False, self._at
        while True:
            found = (_BEHIND if plain else _INSIDE if within else _OUTSIDE).search(self._text, at)
            if not found:
                yield self._taken(len(self._text))
                at = 0
                if self._more():
                    continue
                if plain:
                    return
                raise self._wrong("it is cut off")
            mark, at = found[0], found.end()
            if plain:
                at = found.start()
            elif mark == "\\":
                if at == len(self._text):  # what it escapes is in the next piece
                    self._text += self._file.read(1)
                at += 1
            elif mark == '"':
                within = not within
            else:
                depth += 1 if mark in "{[" else -1
            if depth == 0 and not within:
                yield self._taken(at)
                return

    def _taken(self, end: int) -> str:
        """Go to a place in the piece; return what stands before it."""
        text, self._at = self._text[self._at : end], end
        self._line += text.count("\n")
        return text

    def _next(self) -> str:
        """Go to the next character that is not blank, and return it; '' at the end."""
        while True:
            blank = _BLANKS.match(self._text, self._at)
            self._taken(blank.end() if blank else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        self._text, self._at = self._file.read(_PIECE), 0
        self._read += len(self._text)
        return bool(self._text)

    def _wrong(self, why: str) -> Unreadable:
        return Unreadable(f"no JSON: {why}, {_REST}", self._line)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database while the block runs; raises InvalidInput where it can't be read, or is damaged.

    Texts come as bytes, since they may not be UTF-8.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
    except sqlite3.Error as error:
        raise InvalidInput(f"{path} can't be read as a database of SQLite: {error}.") from None


def columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the tables of a database, each with the names of its columns."""
    names = [_text(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = connection.execute
    return {name: {_text(row[0]) for row in found("SELECT name FROM pragma_table_xinfo(?)", [name])} for name in names}


def _text(given: bytes) -> str:
    return given.decode(errors="replace")


def iso(given: object) -> object:
    """Return a time as `Memory.add` takes it, in ISO 8601.

    It may be seconds, thousandths or millionths since 1970, a mail's date, or one without marks. What is none of these
    comes back as it is, and is judged as all times are.

    >>> iso(1683554160), iso("1683554160000"), iso("Mon, 08 May 2023 13:56:00 +0000")
    ('2023-05-08T13:56:00+00:00', '2023-05-08T13:56:00+00:00', '2023-05-08T13:56:00+00:00')
    >>> iso("20230508135600"), iso(20230508)
    ('2023-05-08T13:56:00', '2023-05-08T00:00:00')
    """
    if isinstance(given, bool):
        return given
    if isinstance(given, int | str) and (compact := _unmarked(str(given).strip())):
        return compact
    if isinstance(given, int | float) or (isinstance(given, str) and _NUMBER.fullmatch(given.strip())):
        return _since_1970(given) or given
    if isinstance(given, str) and "," in given[:5]:
        try:
            return parsedate_to_datetime(given).isoformat()
        except (ValueError, OverflowError):
            return given
    return None if given == "" else given


def _unmarked(text: str) -> str | None:
    """Return a day, or a moment of one, that is written without marks, as 20230508 or 20230508135600."""
    form = _COMPACT.get(len(text)) if text.isascii() and text.isdigit() and text[:2] in ("19", "20") else None
    try:
        return datetime.strptime(text, form).isoformat() if form else None  # noqa: DTZ007  of the zone of the settings
    except ValueError:
        return None


def _since_1970(given: float | str) -> str | None:
    try:
        number = float(given)
        for _ in range(2):
            if abs(number) > _LATEST:
                number /= 1000
        return (_EPOCH + timedelta(seconds=number)).isoformat()
    except (OverflowError, ValueError):
        return None
