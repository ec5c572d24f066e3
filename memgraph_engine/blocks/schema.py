"""Schemas: what a block tells, as data (LightMem's memory metadata, section 3.2); errors name the file and the line."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Literal, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from memgraph_engine.errors import SettingsError
from memgraph_engine.resources import resource

SHIPPED = ("personal", "repository")
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
}
Described = Mapping[str, str | Sequence[str]]
"""What a chat model wrote of a block: texts and lists, by the fields' names."""
Local = Literal["gist", "about", "people", "sessions", "keywords", "topics", "questions", "notes", "span"]


class SchemaField(BaseModel):
    """One field of a block; `config/schemas/personal.toml` says what each part means."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    type: Literal["text", "list", "notes", "dates"]
    meaning: Annotated[str, Field(min_length=1)]
    local: Local
    embed: bool = False

    @model_validator(mode="after")
    def _made_as_told(self) -> Self:
        if (due := _TYPES[self.local]) != self.type:
            raise ValueError(f"{self.local!r} makes a field of the type {due!r}, not {self.type!r}")
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

    most: Annotated[int, Field(ge=1, le=40)]
    field: Annotated[tuple[SchemaField, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _sound(self) -> Self:
        names = [field.name for field in self.field]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"the field {twice!r} comes twice")
        if not any(field.embed for field in self.field):
            raise ValueError("no field is embedded: none has embed = true")
        return self

    @property
    def described(self) -> tuple[SchemaField, ...]:
        """The fields that a chat model writes, where there is one."""
        return tuple(field for field in self.field if field.described)

    @property
    def key(self) -> str:
        """A hash of all but how fields are made locally: what was written by another schema is written anew."""
        told = [field.model_dump(exclude={"local"}) for field in self.field]
        return blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()


@cache
def schema(name: str) -> Schema:
    """Return the schema of a TOML file, or one that is shipped: personal or repository.

    Raises SettingsError, which names the file, and the line of what is wrong in it.
    """
    path = resource("config", "schemas", f"{name}.toml") if name in SHIPPED else Path(name)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise SettingsError(f"The schema {path} can't be read: {why}. {' and '.join(SHIPPED)} are shipped.") from None
    try:
        return Schema.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: this is no TOML: {error}.") from None
    except ValidationError as error:
        _refuse(path, text, error)


def _refuse(path: Path, text: str, error: ValidationError) -> NoReturn:
    first = error.errors(include_url=False)[0]
    where = [part for part in first["loc"] if part != "field"]
    what = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"].removeprefix("Value error, ")
    name = ".".join(map(str, first["loc"]))
    line = _line(text, where)
    raise SettingsError(f"{path}, line {line}: {f'{name}: ' if name else ''}{what[0].lower()}{what[1:]}.") from None


def _line(text: str, where: list[int | str]) -> int:
    """Return the line of a key, or of the table that it should stand in; the first where neither is found."""
    lines = text.splitlines()
    heads = [at for at, line in enumerate(lines) if re.match(r"\s*\[", line)]
    first, end = 0, heads[0] if heads else len(lines)
    fields = [at for at in heads if re.match(r"\s*\[\[\s*field\s*\]\]", lines[at])]
    if where and isinstance(where[0], int) and where[0] < len(fields):
        first = fields[where[0]]
        end = next((at for at in heads if at > first), len(lines))
    key = str(where[-1]) if where else ""
    written = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
    return 1 + next((at for at in range(first, end) if key and written.match(lines[at])), first)
