"""Schemas: what a block tells, as data (LightMem's memory metadata, section 3.2); errors name the file and the line."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from memgraph_engine.errors import SettingsError, named
from memgraph_engine.model.block import SalientNote
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SHIPPED = {
    "personal": "personal.toml",
    "repository": "repository.toml",
    "lightmem-personal": "lightmem-personal.yaml",
    "lightmem-repository": "lightmem-repository.yaml",
}
_TYPES = {
    "gist": "text",
    "about": "text",
    "people": "list",
    "sessions": "list",
    "keywords": "list",
    "topics": "list",
    "questions": "list",
    "notes": "notes",
    "span": "dates",
    "none": "text, list or salient",
}
_EXPECTED = {
    "most": "a whole number from 1 to 40",
    "field": "one or more tables, each headed [[field]]",
    "name": "small letters, digits and _, a letter first, 64 at most, and perhaps a dot and as much again",
    "type": "text, list, notes, salient or dates",
    "meaning": "words that say what the field tells",
    "local": f"one of {', '.join(_TYPES)}",
    "embed": "true or false",
    "merge": "words that say how the field is made of those of two blocks",
}
_LONGEST = 60  # characters of a wrong value that are told
_MISPLACED = "misplaced"  # an error of the whole that has a place of its own
_MARK = "-here-"  # a key that no schema has
Described = Mapping[str, str | Sequence[str] | Sequence[SalientNote]]
"""What a chat model wrote of a block: texts, lists and salient notes, by the fields' names."""
Local = Literal["gist", "about", "people", "sessions", "keywords", "topics", "questions", "notes", "span", "none"]


_READ: Mapping[str, tuple[str, Callable[[str], object]]] = {
    ".json": ("JSON", json.loads),
    ".yaml": ("YAML", yaml.safe_load),
    ".yml": ("YAML", yaml.safe_load),
}


class SchemaField(BaseModel):
    """One field of a block; `config/schemas/personal.toml` says what each part means.

    One whose name has a dot is a part of the field before the dot.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63})?$")]
    type: Literal["text", "list", "notes", "salient", "dates"]
    meaning: Annotated[str, Field(pattern=r"\w")]
    local: Local
    embed: StrictBool = False
    merge: Annotated[str, Field(pattern=r"\w")] | None = None

    @model_validator(mode="after")
    def _made_as_told(self) -> Self:
        if self.type not in re.split(", | or ", due := _TYPES[self.local]):
            raise ValueError(f"{self.local!r} makes a field of the type {due!r}, not {self.type!r}")
        if self.merge and not (self.described or self.type == "salient"):
            raise ValueError(f"{self.type} are told as they are, so no rule says how they are merged")
        if self.embed and self.type == "dates":
            raise ValueError("dates are in no vector, so embed can't be true")
        return self

    @property
    def described(self) -> bool:
        """Whether a chat model may write it; notes and dates are told as they are."""
        return self.type in ("text", "list")


class Schema(BaseModel):
    """What the blocks of a memory tell, and how many of them a session makes at most.

    >>> schema("personal").most
    5
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    most: Annotated[int, Field(strict=True, ge=1, le=40)]
    field: Annotated[tuple[SchemaField, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _sound(self) -> Self:
        names = [field.name for field in self.field]
        whole, known = {name.partition(".")[0] for name in names if "." in name}, set[str]()
        for at, name in enumerate(names):
            if name in known:
                given = {"name": repr(name), "where": ("field", at, "name")}
                raise PydanticCustomError(_MISPLACED, "the field {name} comes twice", given)
            known.add(name)
            if name in whole:
                given = {"name": repr(name), "where": ("field", at, "name")}
                raise PydanticCustomError(_MISPLACED, "the field {name} has parts, and so no type of its own", given)
        if not any(field.embed for field in self.field):
            raise PydanticCustomError(
                _MISPLACED, "no field is embedded: none has embed = true", {"where": ("field", 0)}
            )
        return self

    @property
    def described(self) -> tuple[SchemaField, ...]:
        """The fields that a chat model writes, where there is one."""
        return tuple(field for field in self.field if field.described)

    @property
    def written(self) -> tuple[SchemaField, ...]:
        """The same, and salient notes, which a model writes that makes blocks of notes, or of two."""
        return tuple(field for field in self.field if field.described or field.type == "salient")

    @property
    def key(self) -> str:
        """A hash of all but how fields are made locally: what was written by another schema is written anew."""
        told = [field.model_dump(exclude={"local"}) for field in self.field]
        return blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()


@cache
def schema(name: str) -> Schema:
    """Return the schema of a file in TOML, YAML or JSON, as its ending says, or one of those that are shipped.

    Raises SettingsError, which names the file and, in TOML, the line of what is wrong in it.
    """
    path = resource("config", "schemas", SHIPPED[name]) if name in SHIPPED else Path(name)
    language, read = _READ.get(path.suffix.lower(), ("TOML", tomllib.loads))
    try:
        text = path.read_text("utf-8-sig")  # some editors begin a file with a byte order mark
    except OSError as error:
        _unread(name, error.strerror or "it is no file")
    except UnicodeDecodeError:
        _unread(name, "it is no UTF-8")
    except ValueError:
        _unread(name, "no file has such a name")
    try:
        return Schema.model_validate(read(text))
    except (tomllib.TOMLDecodeError, yaml.YAMLError, json.JSONDecodeError) as error:
        raise SettingsError(f"{path}: this is no {language}: {' '.join(str(error).split())}.") from None
    except ValidationError as error:
        # a key that is not known tells more than the one that is missing in its place
        first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
        where = first["ctx"]["where"] if first["type"] == _MISPLACED else first["loc"]
        at = f", line {_line(text, where)}" if language == "TOML" else ""
        raise SettingsError(f"{path}{at}: {_told(first)}.") from None
    except RecursionError:
        raise SettingsError(f"{path}: this is nested too deeply to be a schema.") from None
    except (ValueError, AttributeError):  # PyYAML's, of "!!int x" and "!!timestamp x"
        raise SettingsError(f"{path}: a number in it has too many digits, or a value is not of its tag.") from None


def _unread(name: str, why: str) -> NoReturn:
    told = name if name.isprintable() else repr(name)
    raise SettingsError(
        f"The schema {told} can't be read: {why}. personal and repository are shipped, and the paper's own "
        "lightmem-personal and lightmem-repository."
    )


def _told(error: "ErrorDetails") -> str:
    """Return what is wrong, in the words of who writes a schema."""
    kind, where = error["type"], error["loc"]
    key = str(where[-1]) if where else ""
    number = next((part + 1 for part in where if isinstance(part, int)), None)
    of = f"field {number}: " if number else ""
    if kind in ("value_error", _MISPLACED):
        return f"{of}{error['msg'].removeprefix('Value error, ')}"
    if kind == "extra_forbidden":
        known = SchemaField if number else Schema
        hint = "; a rule of how blocks are merged is the key merge of its field" if key.startswith("rule") else ""
        return f"{of}there is no key {_value(key)}, only {' and '.join(known.model_fields)}{hint}"
    if key not in _EXPECTED:
        return f"{of}this is {_value(error['input'])}, where a table [[field]] has to be"
    if kind == "missing":
        return f"{of}{key} is missing; it is {_EXPECTED[key]}"
    return f"{of}{key} has to be {_EXPECTED[key]}, not {_value(error['input'])}"


def _value(value: object) -> str:
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")
    if isinstance(value, list | dict) and not value:
        return "empty"
    return "a single table" if isinstance(value, dict) else named(value)


# ---- where it stands ------------------------------------------------------------------------


def _line(text: str, where: Sequence[int | str]) -> int:
    """Return the line of a key or a table, or of the table that it should stand in; the first where there is none.

    It stands where a mark that is written there comes out at its place in what is read.
    """
    if not where:
        return 1
    key = rf"(?<![\w-])([\"']?){re.escape(str(where[-1]))}\1(?=[ \t]*=)"
    table, inline = r"^[ \t]*\[[^]\n]*\]+", r"\{"
    for pattern, marked, place in (
        (key, _MARK, [*where[:-1], _MARK]),
        (table, rf"\g<0>\n{_MARK} = 0", [*where, _MARK]),
        (table, rf"\g<0>\n{_MARK} = 0", [*where, 0, _MARK]),
        (inline, f"{{{_MARK} = 0, ", [*where, _MARK]),
    ):
        for found in re.finditer(pattern, text, re.MULTILINE):
            if _holds(text[: found.start()] + found.expand(marked) + text[found.end() :], place):
                return 1 + text.count("\n", 0, found.start())
    return _line(text, where[:-1])


def _holds(text: str, place: Sequence[int | str]) -> bool:
    """Tell whether something stands at a place of what is read."""
    try:
        value = tomllib.loads(text)
        for part in place:
            value = value[part]  # type: ignore[index]
    except (ValueError, LookupError, TypeError):
        return False
    return True
