"""Prompts: templates in `config/prompts`, checked when they are loaded; text from outside is fenced as data."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from memgraph_engine.errors import SettingsError
from memgraph_engine.model.ports import Message
from memgraph_engine.resources import resource
from memgraph_engine.settings import RolesSettings

Value = int | str | Sequence[Mapping[str, object]]
"""What a variable can be: a number of ours, which is put in as it is, or data, which is fenced."""

_VARIABLE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template: which role asks, and what it says.

    It bears the name of its role; another one of the same role adds its own behind a dash.

    >>> print(prompts()["merging"].render({"merges": [{"merge": 1, "texts": ["{a}", "b"]}]})[1]["content"].strip())
    <data 94ef260b4f09>
    {"merge": 1, "texts": ["{a}", "b"]}
    </data 94ef260b4f09>
    """

    name: str
    role: str
    variables: frozenset[str]
    system: str
    user: str

    def render(self, values: Mapping[str, Value]) -> list[Message]:
        """Return the messages; raises SettingsError unless every variable is given, and no other.

        Values go in verbatim, in one pass: what looks like a variable in one of them stays as it is. The fence
        around data carries a code made from the data itself, so nothing in it can end the fence.
        """
        if set(values) != self.variables:
            raise SettingsError(
                f"The prompt {self.name} takes {sorted(self.variables)}, and was given {sorted(values)}."
            )
        plain = {name: _plain(value) for name, value in values.items()}
        code = hashlib.blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=6).hexdigest()
        ready = {
            name: text if isinstance(values[name], int) else f"<data {code}>\n{text}\n</data {code}>"
            for name, text in plain.items()
        }
        return [
            {"role": role, "content": _VARIABLE.sub(lambda found: ready[found[1]], template)}
            for role, template in (("system", self.system), ("user", self.user))
        ]


def repair(messages: Sequence[Message], answer: str, fault: str) -> list[Message]:
    """Return the chat that shows a model its answer and what is wrong with it."""
    said: list[Message] = [{"role": "assistant", "content": answer}] if answer.strip() else []
    wish = f"Your answer can't be used: {fault}. Answer again, with the whole corrected JSON object and nothing else."
    return [*messages, *said, {"role": "user", "content": wish}]


@cache
def prompts() -> Mapping[str, Prompt]:
    """Load all prompts that ship, by name; raises SettingsError for one that can't be used."""
    return {path.stem: load(path) for path in sorted(resource("config", "prompts").glob("*.yaml"))}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    variables: list[str]
    system: str
    user: str


def load(path: Path) -> Prompt:
    """Read a template; raises SettingsError naming the file and what is wrong with it."""
    import yaml

    try:
        given = _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise SettingsError(f"The prompt {path.name} is no YAML: {error}.") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise SettingsError(f"The prompt {path.name} can't be used: {faults}.") from None
    role = path.stem.partition("-")[0]
    for fault in _faults(given, role):
        raise SettingsError(f"The prompt {path.name} {fault}.")
    return Prompt(path.stem, role, frozenset(given.variables), given.system, given.user)


def _faults(given: _File, role: str) -> list[str]:
    used = {name for template in (given.system, given.user) for name in _VARIABLE.findall(template)}
    unknown, unused = sorted(used - set(given.variables)), sorted(set(given.variables) - used)
    faults = [f"uses {', '.join(unknown)}, which it does not declare"] if unknown else []
    faults += [f"declares {', '.join(unused)}, which it does not use"] if unused else []
    faults += [] if role in RolesSettings.model_fields else [f"is of {role}, which is no role"]
    return faults


def _plain(value: Value) -> str:
    """Spell data: a text as it is, a list as JSON, one element a line, so that no element can pose as another."""
    if isinstance(value, int | str):
        return str(value)
    return "\n".join(json.dumps(element, ensure_ascii=False) for element in value) or "(none)"
