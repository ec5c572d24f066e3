"""A document's text and what it says of itself: front matter, the title of a page, the pages of a PDF."""

import logging
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from io import BytesIO
from typing import Any, Literal, get_args

from memgraph_engine.errors import InvalidInput, needed
from memgraph_engine.ingest.files import Unreadable, decoded
from memgraph_engine.ingest.messages import check_metadata, check_tags, parse_time

Kind = Literal["markdown", "text", "html", "pdf"]
KINDS = get_args(Kind)

_FRONT = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?)^\1[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_DEEPEST = 20  # levels of front matter: the parser takes minutes over thousands
_TOML_LINE = re.compile(r"at line (\d+)")
_XML = re.compile(r"\A\s*<\?xml[^>]*>")
_UNSEEN = ("script", "style", "noscript", "template", "svg", "head")


@dataclass(frozen=True)
class Part:
    """A part of a document that no passage crosses, and what its passages carry (metadata, tags, time)."""

    text: str
    fields: Mapping[str, object]


def parts(found: bytes, kind: Kind, encoding: str = "") -> Iterator[Part]:
    """Yield the parts of a document, in order; raises Unreadable, MissingExtra for HTML and PDF without their readers.

    What Markdown opens with, YAML between lines of `---` or TOML between lines of `+++`, is metadata; its `tags` are
    tags too, and its `date` is the time, if these can be. An HTML page is turned to Markdown.
    """
    if kind == "pdf":
        yield from _pages(found)
    elif kind == "html":
        yield from _page(found, encoding)
    else:
        text = decoded(found, encoding).replace("\r\n", "\n").replace("\r", "\n")
        fields, body = _front(text) if kind == "markdown" else ({}, text)
        yield Part(body, fields)


def _front(text: str) -> tuple[dict[str, object], str]:
    """Take the front matter off; a first line of `---` that no mapping follows is a rule."""
    opened = _FRONT.match(text)
    if not opened:
        return {}, text
    given = _toml(opened[2]) if opened[1] == "+++" else _yaml(opened[2])
    if given is None:
        return {}, text
    try:
        metadata = check_metadata({str(key): _plain(value) for key, value in given.items()}, "the front matter")
    except InvalidInput as error:
        raise Unreadable(str(error).removesuffix("."), 1) from None
    return _fields(metadata), text[opened.end() :]


def _yaml(text: str) -> Mapping[Any, object] | None:
    import yaml

    try:
        depth = 0
        for event in yaml.parse(text):
            line = event.start_mark.line + 2 if event.start_mark else 1
            if isinstance(event, yaml.AliasEvent):  # a few lines of them fill a memory
                raise Unreadable("the front matter has an alias (*), which is not read", line)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise Unreadable("the front matter is nested too deeply", line)
        given = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise Unreadable(f"the front matter is no YAML: {error.problem or error.context}", line) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable(f"the front matter is no YAML: {error}", 1) from None
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else None


def _toml(text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = _TOML_LINE.search(str(error))
        raise Unreadable(f"the front matter is no TOML: {error}", int(found[1]) + 1 if found else 1) from None


def _plain(value: object) -> object:
    """Return a value of YAML or TOML as JSON has it: times as ISO 8601, keys as strings."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, date | datetime) else value


def _fields(metadata: Mapping[str, object]) -> dict[str, object]:
    fields: dict[str, object] = {"metadata": metadata} if metadata else {}
    for name, entry, check in (("tags", "tags", check_tags), ("time", "date", partial(parse_time, timezone="UTC"))):
        try:
            if metadata.get(entry) and check(metadata[entry], entry):
                fields[name] = metadata[entry]
        except InvalidInput:
            continue  # it is metadata all the same
    return fields


def _page(found: bytes, encoding: str) -> Iterator[Part]:
    with needed("Reading HTML", "documents"):
        from bs4 import BeautifulSoup
        from bs4.dammit import EncodingDetector
        from markdownify import MarkdownConverter
    text = decoded(found, encoding, EncodingDetector.find_declared_encoding(found, is_html=True) or "")
    try:
        # Beautiful Soup warns of XML, and of what it takes for a file's name because it has no mark in it
        page = BeautifulSoup(_XML.sub("", text) + "<!-- -->", "html.parser")
        title = page.title.get_text(" ", strip=True) if page.title else ""
        for unseen in page.find_all(_UNSEEN):
            unseen.decompose()
        converter = MarkdownConverter(
            heading_style="atx",
            strip=["a", "img"],
            bullets="-",
            table_infer_header=True,
            escape_asterisks=False,
            escape_underscores=False,
        )
        body = converter.convert_soup(page)
    except RecursionError:
        raise Unreadable("the HTML is nested too deeply") from None
    yield Part(body, {"metadata": {"title": title}} if title else {})


def _pages(found: bytes) -> Iterator[Part]:
    with needed("Reading PDF", "documents"):
        import pypdf
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it can mend is nothing to tell
    try:
        file = pypdf.PdfReader(BytesIO(found))
        if file.is_encrypted and not file.decrypt(""):
            raise Unreadable("the PDF is locked by a password")
        title = str((file.metadata and file.metadata.title) or "").strip()
        # without characters that are none
        texts = [page.extract_text().encode(errors="ignore").decode().replace("\0", "") for page in file.pages]
    except Unreadable:
        raise
    except Exception as error:  # noqa: BLE001  a broken PDF fails in any way
        raise Unreadable(f"the PDF can't be read: {str(error) or type(error).__name__}") from None
    if not any(text.strip() for text in texts):
        raise Unreadable("the PDF holds no text; scanned pages have to be recognised first")
    for number, text in enumerate(texts, 1):
        yield Part(text, {"metadata": {**({"title": title} if title else {}), "page": number}})
