"""Read messages and documents from files, one at a time; what can't be read is reported and passed over."""

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

from memgraph_engine.errors import InvalidInput, MemgraphEngineError, MissingExtra, named
from memgraph_engine.ingest import chat, code, documents
from memgraph_engine.ingest.files import Unreadable, content, declared_encoding, decoded, known_encoding, marked, state
from memgraph_engine.ingest.folders import File, Folder, check_folder, listed, listing, repository
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.ingest.passages import cuts, passages
from memgraph_engine.model.code import piece_id
from memgraph_engine.model.ingested import Fault, Remark
from memgraph_engine.model.memory import SourceKind
from memgraph_engine.model.redaction import KEEPING, Redaction
from memgraph_engine.settings import Settings

Format = Literal["jsonl", "json", "markdown", "text", "html", "pdf", "code", "locomo"]
Message = dict[str, Any]

_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
}
_START = 4096  # bytes
_TOLD = 200  # characters of an error that a fault tells
_ARRAY = re.compile(r"\s*\[\s*\{")
_SAMPLE_KEYS = "sample_id|conversation|qa|event_summary|observation|session_summary"
_LOCOMO = re.compile(rf'\s*\[?\s*\{{\s*"(?:{_SAMPLE_KEYS})"')
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SESSION_TIME = re.compile(r"(\d{1,2}):(\d\d) ?([ap])m on (\d{1,2}) ([a-z]{3})[a-z]*,? (\d{4})", re.IGNORECASE)


Item = Message | Fault | Remark


@dataclass
class Reader:
    """Reads files: of the `format` that is given, else of that which the name or the beginning of each tells.

    A passage of a document has at most `passage` characters; `sample_id` chooses from a LoCoMo file; `encoding` is that
    of a text without a byte order mark. Files of a `repository` are code. Raises InvalidInput for an encoding that is
    none, MissingExtra where code can't be read.
    """

    format: Format | None = None
    sample_id: str | None = None
    encoding: str = ""
    passage: int = 1200
    max_text: int = 500_000
    timezone: str = "UTC"
    repository: bool = False
    redaction: Redaction = KEEPING

    def __post_init__(self) -> None:
        """Refuse what can't be read so."""
        if self.repository and (self.format or self.sample_id):
            raise InvalidInput(
                "A repository is read as code, and its Markdown as documents: it takes no format or sample."
            )
        if self.repository or self.format == "code":
            code.available()
        self.encoding = known_encoding(self.encoding) if self.encoding else ""

    @classmethod
    def of(cls, settings: Settings, **how: Any) -> Self:
        """Return one that reads as the settings say, else as a caller does."""
        return cls(passage=settings.passage, max_text=settings.max_text, timezone=settings.timezone, **how)

    def listed(self, paths: Sequence[Path], id: str | None, places: Mapping[str, str]) -> list[File | Folder]:
        """Return the files and folders that were given; see `folders.listed`."""
        if self.repository:
            for path in paths:
                check_folder(path)
            return listed(paths, id, repository, places)
        return listed(paths, id, lambda path, name, parts: listing(path, name, known, parts), places)

    def kind(self, path: Path) -> Format:
        """Return what a file is; raises InvalidInput."""
        if self.repository:
            return "markdown" if _SUFFIXES.get(path.suffix.lower()) == "markdown" else "code"
        if not path.is_file():
            raise InvalidInput(f"{path} is no file that can be read.")
        if self.format is not None and self.format not in get_args(Format):
            raise InvalidInput(f"No format {self.format!r}; use one of {', '.join(get_args(Format))}.")
        return self.format or _guess(path, start(path))

    def makes(self, path: Path) -> SourceKind | None:
        """Return what a file of this name is read as; None if that is neither a document nor code, or can't be told."""
        suffix = _SUFFIXES.get(path.suffix.lower())
        if self.repository:
            return "document" if suffix == "markdown" else "code"
        kind = self.format or suffix
        return "code" if kind == "code" else "document" if kind in documents.KINDS else None

    def items(self, file: File) -> Iterator[Item]:
        """Yield what a file holds, and a Fault where reading it fails; raises InvalidInput if it can't be opened."""
        try:
            yield from self.read(file.path, file.id)
        except (MemgraphEngineError, OSError):
            raise
        except Exception as error:  # noqa: BLE001  a file that nobody thought of fails in any way, and others wait
            yield Fault(str(file.path), 0, f"it can't be read: {type(error).__name__}: {str(error)[:_TOLD]}")

    def read(self, path: Path, id: str = "") -> Iterator[Item]:
        """Return the messages of a file as `Memory.add` takes them, and a Fault for each that it would refuse.

        `id` names a document, '' by the file's name. Raises InvalidInput if the file can't be opened, or its format or
        sample can't be told.
        """
        kind, encoding = self.kind(path), self.encoding
        if kind == "code":
            return _code(path, id or path.name, self.passage, self.max_text, encoding, self.redaction)
        if kind in documents.KINDS:
            named = id or path.name
            return _document(path, named, self.passage, cast("documents.Kind", kind), encoding, self.redaction)
        if kind == "locomo":
            found: Iterator[tuple[int, object]] = _turns(_sample(path, self.sample_id, encoding))
        else:
            found = _lines(path, encoding) if kind == "jsonl" else _array(path, encoding)
        given = self.timezone, self.max_text, self.redaction
        return (checked(path, line, one, *given) for line, one in found)

    def count(self, given: Iterable[File | Folder]) -> int:
        """Count what files and folders hold, which takes reading them."""
        found = 0
        for file in (file for one in given for file in (one.files if isinstance(one, Folder) else [one])):
            with suppress(InvalidInput, OSError):
                found += sum(not isinstance(item, Remark) for item in self.items(file))
        return found


def known(path: Path) -> bool:
    """Tell whether a file of a folder is of a kind that is read; any JSON is not, but messages and LoCoMo are."""
    if path.suffix.lower() != ".json":
        return path.suffix.lower() in _SUFFIXES
    try:
        text = _beginning(start(path))
    except InvalidInput:
        return True  # so that it is told why it can't be read
    return bool(_ARRAY.match(text) or _LOCOMO.match(text))


def start(path: Path) -> bytes:
    """Return the first bytes of a file; raises InvalidInput if it can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}.") from None


def _beginning(start: bytes) -> str:
    return start.decode(marked(start) or "utf-8", errors="replace").removeprefix("\ufeff")


def _guess(path: Path, start: bytes) -> Format:
    suffix = path.suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    text = _beginning(start)
    if _LOCOMO.match(text):
        return "locomo"
    if text.lstrip().startswith("[") or (suffix == ".json" and not text.strip()):
        return "json"
    if text.lstrip().startswith("{"):
        return "jsonl"
    raise InvalidInput(f"The format of {path} can't be told; name one of {', '.join(get_args(Format))}.")


class Unread(str):
    """Why a place of a file holds no message."""


def checked(
    path: Path, line: int, given: object, timezone: str, max_text: int, redaction: Redaction = KEEPING
) -> Message | Fault:
    """Return a message of a file as `Memory.add` takes it, with its id; a Fault for one that it would refuse."""
    if isinstance(given, Unread):
        return Fault(str(path), line, str(given))
    if not isinstance(given, dict):
        return Fault(str(path), line, f"this is {named(given)}; a JSON object with the fields of a message is needed")
    where = f"message {given['id']!r}" if isinstance(given.get("id"), str) else "the message"
    try:
        own = chat.fields(given, where)
        source = parse_message(own, where, timezone=timezone, max_text=max_text, redaction=redaction)
    except InvalidInput as error:
        return Fault(str(path), line, str(error))
    # a file that is read again brings the same, whenever that is
    return {"id": source.id, **{key: value for key, value in own.items() if value not in ("", [], {})}}


def loads(text: str) -> object:
    """Parse JSON; the standard's only, so NaN is none. What can't be parsed gives an Unread."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        return Unread("the JSON is nested too deeply")
    except ValueError as error:  # bad JSON, or a number of thousands of digits
        return Unread(f"no JSON: {error}")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _lines(path: Path, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield the lines as they are asked for: a log may be long."""
    if encoding or marked(start(path)) not in ("", "utf-8"):
        whole = _text(path, encoding)
        if isinstance(whole, Unreadable):
            yield whole.line, Unread(whole)
        else:
            yield from ((number, loads(line)) for number, line in enumerate(whole.split("\n"), 1) if line.strip())
        return
    with path.open("rb") as file:
        before = state(file.fileno())
        for number, line in enumerate(file, 1):
            try:
                text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode()
            except UnicodeDecodeError as error:
                yield number, Unread(f"not UTF-8 at byte {error.start + 1} of the line; name the encoding")
                continue
            if text.strip():
                yield number, loads(text)
        if state(file.fileno()) != before:
            yield 0, Unread("the file changed while it was read; ingest it again: what is stored is recognised")


def _text(path: Path, encoding: str) -> str | Unreadable:
    try:
        return decoded(content(path), encoding)
    except Unreadable as error:
        return error


def _array(path: Path, encoding: str) -> Iterator[tuple[int, object]]:
    """Yield an array's entries with the lines they begin at; what follows a fault in the JSON is not read."""
    text = _text(path, encoding)
    if isinstance(text, Unreadable):
        yield text.line, Unread(text)
        return
    if not text.strip():
        return
    decoder, at, line, seen = json.JSONDecoder(parse_constant=_refuse), _skip(text, 0, "["), 1, 0
    while at < len(text) and text[at] != "]":
        line, seen = line + text.count("\n", seen, at), at
        try:
            given, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield line, Unread(f"no JSON, so the rest of the file is not read: {error}")
            return
        yield line, given
        at = _skip(text, end, "")
        if text[at : at + 1] not in (",", "]"):
            break
        at = _skip(text, at, ",")
    line += text.count("\n", seen, at)
    if text[at : at + 1] != "]":
        yield line, Unread("the array is not closed, or a comma is missing; what comes after is not read")
    elif text[at + 1 :].strip():
        yield line, Unread("something follows the array's end; it is not read")


def _skip(text: str, at: int, mark: str) -> int:
    """Return the place after white space, at most one `mark`, and white space."""
    found = re.compile(rf"\s*{re.escape(mark)}?\s*" if mark else r"\s*").match(text, at)
    return found.end() if found else at


def _document(
    path: Path, id: str, limit: int, kind: documents.Kind, encoding: str, redaction: Redaction
) -> Iterator[Item]:
    try:
        parts = [
            replace(part, text=redaction.text(part.text, str(path)))  # a private key may be longer than a passage
            for part in documents.parts(content(path), kind, encoding)
        ]
    except (Unreadable, MissingExtra) as error:
        yield Fault(str(path), getattr(error, "line", 0), str(error))
        return
    markdown = kind in ("markdown", "html")
    found = ((text, part.fields) for part in parts for text in passages(part.text, limit, markdown=markdown))
    for n, (text, carried) in enumerate(found):
        yield {"id": f"{id}#{n}", "kind": "document", "session": id, "text": text, **carried}


def _code(path: Path, id: str, limit: int, max_text: int, encoding: str, redaction: Redaction) -> Iterator[Item]:
    """Yield the pieces of a file of code; one that is longer than a message may be in parts."""
    try:
        found = content(path)
        text = redaction.text(decoded(found, encoding, declared_encoding(found)), str(path))
        file = code.cut(path.name, text, limit)
    except Unreadable as error:
        yield Fault(str(path), error.line, str(error))
        return
    if file.remark:
        yield Remark(str(path), file.remark)
    for piece in file.pieces:
        known = {"about": file.about, "signature": piece.signature}
        described = {key: value for key, value in known.items() if value}
        places = [0, *cuts(piece.text, max_text), len(piece.text)]
        for n, (start, end) in enumerate(pairwise(places)):
            yield {
                "id": piece_id(id, f"{piece.name}+{n}" if n else piece.name),
                "kind": "code",
                "session": id,
                "text": piece.text[start:end],
                "tags": [f"{kind}:{word}" for kind, word in piece.keywords],
                "metadata": {
                    **({"language": file.language} if file.language else {}),
                    **({"code": described} if described else {}),
                },
            }


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[int, object]]:
    """Yield the turns of one LoCoMo conversation in order (Maharana et al. 2024)."""
    numbers = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for name in (f"session_{n}" for n in numbers):
        given = conversation.get(f"{name}_date_time")
        time = _session_time(given)
        if given and not time:
            yield 0, Unread(f"{name} is read without its time, which is not understood: {given!r}")
        turns = conversation[name]
        for turn in turns if isinstance(turns, list) else [turns]:
            yield 0, {**_turn(turn), "session": name, "time": time} if isinstance(turn, dict) else turn


def _turn(turn: dict[str, object]) -> Message:
    names = {"dia_id": "id", "speaker": "speaker", "text": "text", "blip_caption": "caption"}
    return {name: turn[key] for key, name in names.items() if key in turn}


def _sample(path: Path, sample_id: str | None, encoding: str) -> dict[str, Any]:
    text = _text(path, encoding)
    given = Unread(text) if isinstance(text, Unreadable) else loads(text)
    if isinstance(given, Unread):
        raise InvalidInput(f"{path} can't be read: {given}.")
    samples = {
        str(sample.get("sample_id", "")): sample["conversation"]
        for sample in (given if isinstance(given, list) else [given])
        if isinstance(sample, dict) and isinstance(sample.get("conversation"), dict)
    }
    if sample_id is None and len(samples) == 1:
        return dict(*samples.values())
    if sample_id not in samples:
        asked = f"no sample {sample_id!r}" if sample_id else f"{len(samples)} samples"
        raise InvalidInput(f"{path} has {asked}; choose a sample_id of: {', '.join(samples) or 'none'}.")
    return dict(samples[sample_id])


def _session_time(given: object) -> str | None:
    """Return "1:56 pm on 8 May, 2023" as ISO 8601.

    >>> _session_time("1:56 pm on 8 May, 2023")
    '2023-05-08T13:56:00'
    """
    found = _SESSION_TIME.fullmatch(str(given).strip())
    if not found or found[5].lower() not in _MONTHS:
        return None
    hour = int(found[1]) % 12 + 12 * (found[3].lower() == "p")
    month = _MONTHS.index(found[5].lower()) + 1
    try:
        return datetime(int(found[6]), month, int(found[4]), hour, int(found[2])).isoformat()  # noqa: DTZ001  as given
    except ValueError:
        return None
