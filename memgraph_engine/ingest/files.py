"""The bytes of a file, read in one go, and its text, whatever its encoding."""

import codecs
import os
import re
from pathlib import Path

from memgraph_engine.errors import InvalidInput

_TRIES = 3
_MARKS = (  # the longer ones first: that of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"(?:[^\n]*\n)?[ \t]*[#/;*-][^\n]*?coding[:=][ \t]*([-\w.]+)")
_NO_TEXT = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined")  # no file is written in these
_SURROGATE = re.compile("[\ud800-\udfff]")
_WESTERN = "windows-1252"


class Unreadable(Exception):
    """Why a file, or a place of it, can't be read; `line` counts from 1 and is 0 where there is none to name."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


def state(file: int) -> tuple[int, int]:
    """Return what differs once an open file was written to: its size, and when that was."""
    found = os.fstat(file)
    return found.st_size, found.st_mtime_ns


def content(path: Path) -> bytes:
    """Read a file as it is at one moment; raises Unreadable if it is written to all the while."""
    for _ in range(_TRIES):
        with path.open("rb") as file:
            before = state(file.fileno())
            found = file.read()
            if state(file.fileno()) == before:
                return found
    raise Unreadable("the file changed while it was read; ingest it again once it is complete")


def known_encoding(name: str) -> str:
    """Return the name of an encoding of text; raises InvalidInput."""
    try:
        "".encode(name)
        if (known := codecs.lookup(name).name) not in _NO_TEXT:
            return known
        raise LookupError
    except (LookupError, UnicodeError, ValueError, TypeError):
        raise InvalidInput(f"No encoding {name!r}; use one that Python knows, e.g. windows-1252 or utf-16.") from None


def marked(start: bytes) -> str:
    """Return the encoding that a byte order mark tells, '' without one."""
    return next((encoding for mark, encoding in _MARKS if start.startswith(mark)), "")


def decoded(found: bytes, encoding: str = "", declared: str = "") -> str:
    """Return a file's text: by its byte order mark, else by the `encoding` given, else as UTF-8.

    What is none of these is read as it is `declared` in the file itself, else as Windows-1252, which holds Latin-1,
    unless that gives more letters beyond ASCII than within it: other alphabets have to be named. Raises Unreadable.

    >>> decoded("naïve".encode()), decoded("naïve".encode("latin-1")), decoded("naïve".encode("utf-16"))
    ('naïve', 'naïve', 'naïve')
    """
    by = marked(found) or encoding
    try:
        text = found.decode(by or "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if by:
            raise Unreadable(f"the file is not {by.upper()}", found.count(b"\n", 0, error.start) + 1) from None
        text = _other(found, declared, found.count(b"\n", 0, error.start) + 1)
    if lone := _SURROGATE.search(text):  # some encodings can write one
        raise Unreadable("half a character (a lone surrogate)", text.count("\n", 0, lone.start()) + 1)
    if "\0" in text:
        raise Unreadable("a NUL character: this is no text file", text.count("\n", 0, text.index("\0")) + 1)
    return text


def declared_encoding(found: bytes) -> str:
    """Return the encoding that a file of code declares in one of its first two lines (PEP 263); '' for none."""
    declared = _DECLARED.match(found)
    return declared[1].decode("ascii") if declared else ""


def _other(found: bytes, declared: str, line: int) -> str:
    if b"\0" in found:
        raise Unreadable("a NUL character: this is no text file", found.count(b"\n", 0, found.index(b"\0")) + 1)
    try:
        text = found.decode(known_encoding(declared) if declared else _WESTERN)
    except (UnicodeError, InvalidInput):
        text = ""
    letters = [letter.isascii() for letter in text if letter.isalpha()]
    if not text or (not declared and 2 * sum(letters) < len(letters)):
        raise Unreadable("the file is not UTF-8, and its encoding can't be told: name it (--encoding)", line)
    return text
