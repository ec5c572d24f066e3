"""Roles: what a chat model is asked for, each a file of `config/roles` that is checked when it is loaded.

A file has the prompt, in which text from outside is fenced as data, what is asked about, and the form of the answer.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memgraph_engine.errors import SettingsError
from memgraph_engine.llm.answers import MOST_FAULTS, Number, Part, check_each, check_some, form
from memgraph_engine.llm.tokens import tokens
from memgraph_engine.model.ports import Message
from memgraph_engine.resources import resource
from memgraph_engine.settings import RolesSettings

T = TypeVar("T")
Entry = Mapping[str, Any]
"""Something that a model is asked about: what it is shown of it, as JSON."""
Value = int | str | Sequence[Entry]
"""What a variable can be: a number of ours, which is put in as it is, or data, which is fenced."""
Check = Callable[[Sequence[Any], frozenset[Number]], None]
"""Raises ValueError, in words for the model, for items that do not speak of what was asked."""

_VARIABLE = re.compile(r"\{([a-z_]+)\}")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    variables: list[str]
    system: str
    user: str
    asks: str = ""
    tokens: float = Field(0, ge=0)
    answer: dict[str, Any] = Field({}, max_length=1)


@dataclass(frozen=True, slots=True)
class Role:
    """A task of a chat model. It bears the name of its setting; another file of the same adds its own behind a dash.

    >>> print(role("merging").request([{"texts": ["{a}", "b"]}]).messages[1]["content"].strip())
    <data 94ef260b4f09>
    {"merge": 1, "texts": ["{a}", "b"]}
    </data 94ef260b4f09>
    """

    name: str
    file: _File
    form: type[Part]
    """Of an answer; without a field for free text."""

    @property
    def setting(self) -> str:
        """The name of its setting in `llm.roles`."""
        return self.name.partition("-")[0]

    def request(self, entries: Iterable[Entry] = (), *, check: Check | None = None, **more: Value) -> "Request":
        """Ask about entries, numbered from 1, or about what each of them lists; `more` are other variables.

        >>> request = role("gating").request([{"text": "new", "candidates": ["old", "older"]}])
        >>> request.variables, sorted(request.asked)
        ({'notes': [{'note': 1, 'text': 'new', 'candidates': [{'candidate': 1, 'text': 'old'}, \
{'candidate': 2, 'text': 'older'}]}]}, [(1, 1), (1, 2)])
        """
        listed, _, inner = self.file.asks.partition(".")
        numbered = [self._numbered(at, entry) for at, entry in enumerate(entries, 1)]
        asked: list[Number] = [*range(1, len(numbered) + 1)]
        if inner:
            asked = [(at, second) for at, one in enumerate(numbered, 1) for second in range(1, len(one[inner]) + 1)]
        own: dict[str, Value] = {listed: numbered} if listed else {}
        some = "number" in self.file.answer.values()
        return Request(self, {**own, **more}, frozenset(asked), check or (check_some if some else check_each))

    def batches(self, of: Iterable[T], shown: Callable[[T], Entry], limit: int) -> Iterator[list[T]]:
        """Split what is asked about into requests of at most `limit` tokens, in order; a longer one stands alone.

        >>> [len(batch) for batch in role("extraction").batches(["x" * 300] * 5, lambda text: {"text": text}, 250)]
        [2, 2, 1]
        """
        batch: list[T] = []
        room = limit
        for one in of:
            size = self.tokens(shown(one))
            if batch and size > room:
                yield batch
                batch, room = [], limit
            batch.append(one)
            room -= size
        if batch:
            yield batch

    def tokens(self, entry: Entry) -> int:
        """Return about what an entry takes of a request, with what is answered about it: nothing of an empty one."""
        if not entry:
            return 0
        inner, answered = self.file.asks.partition(".")[2], self.file.tokens
        size = tokens(json.dumps(self._numbered(0, entry), ensure_ascii=False))
        return size + int(answered * (size if answered < 1 else len(entry[inner]) if inner else 1))

    def _numbered(self, number: int, entry: Entry) -> dict[str, Any]:
        listed, _, inner = self.file.asks.partition(".")
        more = {inner: [{_one(inner): at, "text": text} for at, text in enumerate(entry[inner], 1)]} if inner else {}
        return {_one(listed): number, **entry, **more}

    def render(self, values: Mapping[str, Value]) -> list[Message]:
        """Return the messages; raises SettingsError unless every variable is given, and no other.

        Values go in verbatim, in one pass: what looks like a variable in one of them stays as it is. The fence
        around data carries a code made from the data itself, so nothing in it can end the fence.
        """
        if set(values) != set(self.file.variables):
            raise SettingsError(
                f"The prompt {self.name} takes {sorted(self.file.variables)}, and was given {sorted(values)}."
            )
        plain = {name: _plain(value) for name, value in values.items()}
        code = hashlib.blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=6).hexdigest()
        ready = {
            name: text if isinstance(values[name], int) else f"<data {code}>\n{text}\n</data {code}>"
            for name, text in plain.items()
        }
        return [
            {"role": role, "content": _VARIABLE.sub(lambda found: ready[found[1]], template)}
            for role, template in (("system", self.file.system), ("user", self.file.user))
        ]


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a chat model: what goes into the prompt, the numbers that the answer must speak of, and a check."""

    role: Role
    variables: Mapping[str, Value]
    asked: frozenset[Number]
    check: Check

    @property
    def messages(self) -> list[Message]:
        """What the model is sent."""
        return self.role.render(self.variables)


def repair(messages: Sequence[Message], answer: str, fault: str) -> list[Message]:
    """Return the chat that shows a model its answer and what is wrong with it."""
    said: list[Message] = [{"role": "assistant", "content": answer}] if answer.strip() else []
    wish = f"Your answer can't be used: {fault}. Answer again, with the whole corrected JSON object and nothing else."
    return [*messages, *said, {"role": "user", "content": wish}]


def role(name: str) -> Role:
    """Return a role by its name; raises SettingsError where one that ships can't be used."""
    return roles()[name]


@cache
def roles() -> Mapping[str, Role]:
    """Load all roles that ship, by name; raises SettingsError for one that can't be used."""
    return {path.stem: load(path) for path in sorted(resource("config", "roles").glob("*.yaml"))}


def load(path: Path) -> Role:
    """Read a role's file; raises SettingsError naming the file and what is wrong with it."""
    import yaml

    try:
        file = _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        loaded = Role(path.stem, file, next((form(*answer) for answer in file.answer.items()), Part))
        fault = next(_faults(loaded), "")
    except yaml.YAMLError as error:
        raise SettingsError(f"The prompt {path.name} is no YAML: {error}.") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise SettingsError(f"The prompt {path.name} can't be used: {faults}.") from None
    except ValueError as error:
        fault = str(error)
    if fault:
        raise SettingsError(f"The prompt {path.name} {fault}.")
    return loaded


def _faults(given: Role) -> Iterator[str]:
    file = given.file
    declared, used = set(file.variables), {*_VARIABLE.findall(file.system), *_VARIABLE.findall(file.user)}
    if unknown := sorted(used - declared):
        yield f"uses {', '.join(unknown)}, which it does not declare"
    if unused := sorted(declared - used):
        yield f"declares {', '.join(unused)}, which it does not use"
    if given.setting not in RolesSettings.model_fields:
        yield f"is of {given.setting}, which is no role"
    if file.asks.partition(".")[0] not in {"", *declared}:
        yield f"asks about {file.asks}, which it does not declare"
    if untold := [name for name in _names(file.answer) if f'"{name}"' not in file.system]:
        yield f"wants {', '.join(untold)} in an answer, of which it tells the model nothing"


def _names(spec: object) -> Iterator[str]:
    """Yield the keys of an answer."""
    for name, inner in spec.items() if isinstance(spec, Mapping) else ():
        yield name.removesuffix("?")
        yield from _names(inner)


def _one(several: str) -> str:
    """Return what the number of one of several is called: turns have a turn."""
    return several.removesuffix("s")


def _plain(value: Value) -> str:
    """Spell data: a text as it is, a list as JSON, one element a line, so that no element can pose as another."""
    if isinstance(value, int | str):
        return str(value)
    return "\n".join(json.dumps(element, ensure_ascii=False) for element in value) or "(none)"


_MOST_TRIES = 100  # braces at which an object may begin: a text of nothing else must not cost much


def parse(text: str, request: Request) -> tuple[Any, ...]:
    """Return the items of the answer that a text holds; raises ValueError in words that the model can act on.

    >>> from memgraph_engine.llm.role import role
    >>> asked = role("merging").request([{"texts": ["Ana moved."]}])
    >>> parse('Gladly! {"merges": [{"merge": 1, "context": "Ana lives in Porto."}]}', asked)
    (Merges(merge=1, context='Ana lives in Porto.'),)
    """
    found = json_object(text)
    if found is None:
        raise ValueError("there is no JSON object in it" if text.strip() else "it is empty")
    try:
        answer = request.role.form.model_validate(found)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)]
        raise ValueError("; ".join(faults[:MOST_FAULTS])) from None
    ((_, items),) = answer
    request.check(items, request.asked)
    return tuple(items)


def json_object(text: str) -> dict[str, Any] | None:
    r"""Return the longest JSON object in a text, whatever stands around it.

    Broken JSON is refused: a library that mends it would silently drop what was cut off.

    >>> json_object('Think {of} it: {"a": 1}. So: ```json\n{"b": {"c": [2, 3]}}\n``` Anything else?')
    {'b': {'c': [2, 3]}}
    """
    return max(_objects(text), key=lambda found: found[0], default=(0, None))[1]


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield end - at, found
        at = text.find("{", end)
