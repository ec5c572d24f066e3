"""The form of a model's answer, made from what a role's file says: numbers are checked strictly, additions ignored."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_validator,
)

Number = int | tuple[int, int]
"""What an answer speaks of: the number of a turn or of a pair of texts, or those of a note and a candidate."""
Spec = str | Sequence[str] | Mapping[str, "Spec"]
"""The form of a value: a type by name, the words that it may be, or the fields of each of several entries."""

MOST_FAULTS = 10
"""Faults of an answer that are told: a model may give any number of them."""
MOST_QUERIES = 4
"""Queries that are made of one question (LightMem with small models, section 3.3)."""
_MOST_KEYWORDS = 8
_LONGEST_NUMBER = 20
_LONGEST_LABEL = 60
_LONGEST_QUESTION = 500
_LONGEST_NAME = 100


def _keywords(given: object) -> object:
    """Take the first 8 that differ; a list that is too long is no reason to ask again."""
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        return given
    stripped = [word.strip() for word in given if word.strip()]
    return list({word.casefold(): word for word in reversed(stripped)}.values())[::-1][:_MOST_KEYWORDS]


def _worded(text: str) -> str:
    """Refuse a text without a word: weak models copy the dots of an example."""
    if not re.search(r"\w", text):
        raise ValueError("the context must say something")
    return text


def _short(text: str) -> str:
    """Refuse a label without a word, or longer than a line of a list."""
    if not re.search(r"\w", text):
        raise ValueError("the label must say something")
    if len(text) > _LONGEST_LABEL or len(text.splitlines()) > 1:
        raise ValueError(f"the label must be one line of at most {_LONGEST_LABEL} characters")
    return text


def _question(text: str) -> str:
    """Refuse a question of several lines, or one that is too long."""
    if len(text) > _LONGEST_QUESTION or not text.isprintable():
        raise ValueError(f"must be one line of at most {_LONGEST_QUESTION} characters")
    return text


def _queries(queries: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse more queries than are asked, and one of several lines."""
    if len(queries) > MOST_QUERIES:
        raise ValueError(f"there are {len(queries)} queries; at most {MOST_QUERIES} are asked")
    return tuple(map(_question, queries))


def _names(keywords: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a name of several lines, or one that is too long."""
    if not all(len(word) <= _LONGEST_NAME and word.isprintable() for word in keywords):
        raise ValueError(f"keywords must be names of at most {_LONGEST_NAME} characters")
    return keywords


def _day(given: object) -> object:
    """Take a whole ISO date, or nothing; pydantic would also read numbers as seconds since 1970."""
    if given == "":
        return None
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d\d-\d\d([T ].*)?", given.strip()):
        return given.strip()[:10]
    raise ValueError("must be a date as YYYY-MM-DD, or null")


def _given(value: object, check: ValidatorFunctionWrapHandler, missing: object) -> object:
    return missing if value is None else check(value)


_Words = Annotated[str, AfterValidator(_worded)]
_Keywords = Annotated[tuple[str, ...], BeforeValidator(_keywords)]
_TYPES: dict[str, tuple[Any, Any]] = {
    "number": (int, 0),
    "numbers": (tuple[int, ...], ()),
    "share": (Annotated[float, Field(ge=0, le=1)], 0.0),
    "flag": (bool, False),
    "day": (Annotated[date | None, BeforeValidator(_day)], None),
    "text": (str, ""),
    "texts": (tuple[str, ...], ()),
    "words": (_Words, ""),
    "label": (Annotated[str, AfterValidator(_short)], ""),
    "line": (Annotated[str, AfterValidator(_question)], ""),
    "lines": (Annotated[tuple[str, ...], AfterValidator(_queries)], ()),
    "keywords": (_Keywords, ()),
    "names": (Annotated[_Keywords, AfterValidator(_names)], ()),
}
"""The types that a role's file may name: each with the value that stands for what is missing."""


class Part(BaseModel):
    """A part of an answer; other keys than its fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, str_strip_whitespace=True)


class Item(Part):
    """An entry of an answer, with the fields that its role's file names."""

    numbers: ClassVar[Sequence[str]] = ()
    """The first fields, of the type number: they say what the entry speaks of."""
    days: ClassVar[Sequence[str]] = ()
    """The fields that are days, which must stand in order."""
    worded: ClassVar[Mapping[str, str]] = {}
    """The fields that must say something if another one, by name, is true."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def number(self) -> Number:
        """What it speaks of."""
        first, *rest = (getattr(self, name) for name in self.numbers)
        return (first, *rest) if rest else first

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for name, condition in self.worded.items():
            if getattr(self, condition):
                _worded(getattr(self, name))
        given = [(name, day) for name in self.days if (day := getattr(self, name))]
        for (first, start), (last, end) in pairwise(given):
            if end < start:
                raise ValueError(f"{last} is before {first}")
        return self


def form(name: str, spec: Spec) -> type[Part]:
    """Return the form of a whole answer, whose one field holds the items; raises ValueError for one that is none.

    A key that ends with ? may be missing, or null. A type followed by `if` and a field is checked if that one is true.

    >>> answer = form("merges", {"merge": "number", "context?": "words"})
    >>> answer.model_validate({"merges": [{"merge": "1", "context": None}]})
    Answer(merges=(Merges(merge=1, context=''),))
    """
    entry: Any = _entry(name, spec) if isinstance(spec, Mapping) else _type(name, spec)[0]
    fields: dict[str, Any] = {name: (tuple[entry, ...], ...)}
    return create_model("Answer", __base__=Part, **fields)


def _entry(name: str, spec: Mapping[str, Spec]) -> type[Item]:
    """Return the form of an entry that has these fields."""
    fields: dict[str, Any] = {}
    numbers, days, worded = list[str](), list[str](), dict[str, str]()
    for key, given in spec.items():
        field, optional = key.removesuffix("?"), key.endswith("?")
        bare, _, condition = given.partition(" if ") if isinstance(given, str) else (given, "", "")
        kind, missing = _type(f"{name}.{field}", "text" if condition else bare)
        if optional:
            kind = Annotated[kind, WrapValidator(partial(_given, missing=missing))]
        fields[field] = (kind, missing if optional else ...)
        if bare == "number" and not optional and len(numbers) == len(fields) - 1:
            numbers.append(field)
        if bare == "day":
            days.append(field)
        if condition:
            worded[field] = condition
    model = create_model(name.rpartition(".")[2].capitalize(), __base__=Item, **fields)
    model.numbers, model.days, model.worded = numbers, days, worded
    return model


def _type(where: str, spec: Spec) -> tuple[Any, Any]:
    """Return the type of a value, and what stands for a missing one."""
    if isinstance(spec, Mapping):
        entry: Any = _entry(where, spec)
        return tuple[entry, ...], ()
    if not isinstance(spec, str):
        lower = BeforeValidator(lambda given: given.strip().lower() if isinstance(given, str) else given)
        return Annotated[Literal[tuple(spec)], lower], ""
    if spec not in _TYPES:
        raise ValueError(f"says that {where} is of the type {spec}, which is none of {', '.join(_TYPES)}")
    return _TYPES[spec]


def check_each(items: Sequence[Item], asked: frozenset[Number]) -> None:
    """Raise ValueError, in words for the model, unless items speak of each number asked about, once."""
    _check([item.number for item in items], asked)


def check_some(numbers: Sequence[int], asked: frozenset[Number]) -> None:
    """Raise ValueError, in words for the model, for a number that was not asked about, or comes twice."""
    _check(numbers, asked & frozenset(numbers))


def _check(numbers: Sequence[Number], asked: frozenset[Number]) -> None:
    given = Counter(numbers)
    faults = [f"{short_number(number)} was not asked about" for number in given if number not in asked]
    faults += [f"{number} is missing" for number in sorted(asked - set(given), key=str)]
    faults += [f"{short_number(number)} comes {times} times" for number, times in given.items() if times > 1]
    if faults:
        raise ValueError("; ".join(faults[:MOST_FAULTS]))


def short_number(number: Number) -> str:
    """Return a number of an answer as it is told: a model may give one of any length."""
    text = str(number)
    return text if len(text) <= _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}…"


def json_schema(answer: type[Part]) -> dict[str, Any]:
    """Return the JSON schema in the strict form that providers take: every key required, none added.

    Bounds, defaults and titles are left out, which not all providers know; the answer is checked for them anyway.

    >>> schema = json_schema(form("merges", {"merge": "number", "context": "words"}))
    >>> schema["required"], schema["additionalProperties"]
    (['merges'], False)
    """
    schema: dict[str, Any] = _strict(answer.model_json_schema())
    return schema


_UNKNOWN_TO_SOME = {"title", "default", "minimum", "maximum", "minLength", "format", "description"}


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _strict(part) for key, part in schema.items() if key not in _UNKNOWN_TO_SOME}
    if plain.get("type") == "object":
        plain |= {"required": list(plain["properties"]), "additionalProperties": False}
    return plain
