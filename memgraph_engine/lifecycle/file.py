"""Policy files: YAML, checked as a whole, with errors that name the file, the line and the column."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, cast, get_args

import yaml

from memgraph_engine.errors import MissingExtra, PolicyError
from memgraph_engine.lifecycle.policies import End, Extension, Pattern, Policies, Policy, Rule, Says
from memgraph_engine.lifecycle.utility import MOST, START
from memgraph_engine.model.memory import SourceKind
from memgraph_engine.resources import resource
from memgraph_engine.trust import TRUST

_SHIPPED = ("default", "memoryarchitect")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(\d{1,6})([smhdw])")
_NUMBER = re.compile(r"[+-]?(\d{1,9}(\.\d{0,9})?|\.\d{1,9})")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_IDLE = timedelta(minutes=30)  # without a turn, then a session is over
_LARGEST = 2000  # instructions of a pattern: so many read a million characters in some seconds
_A_DURATION = "none, or a number above 0 with s, m, h, d or w, such as 30d"
Node = Any
"""A node of PyYAML, which knows where it stands."""


@cache
def policies(name: str) -> Policies:
    """Return the policies of a file, or of one that is shipped: default or memoryarchitect. Raises PolicyError.

    >>> policies("default").classes["ephemeral"].ttl.total_seconds()
    86400.0
    """
    path = resource("config", "policies", f"{name}.yaml") if name in _SHIPPED else Path(name)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        shipped = " and ".join(_SHIPPED)
        raise PolicyError(f"The policy file {path} can't be read: {why}. {shipped} are shipped.") from None
    return _File(str(path)).policies(text)


class _File:
    """One file while it is read."""

    def __init__(self, path: str) -> None:
        self._path = path

    def policies(self, text: str) -> Policies:
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            self._refuse(mark, f"this is no YAML: {getattr(error, 'problem', None) or error}")
        except RecursionError:
            raise PolicyError(f"{self._path}: this is nested too deeply to be a policy file.") from None
        if root is None:
            raise PolicyError(f"{self._path}: it is empty; classes and a default are expected.")
        given = self._mapping(root, ("default", "classes", "rules", "trust"), "the file")
        for needed in ("classes", "default"):
            if needed not in given:
                self._refuse(root.start_mark, f"{needed} is missing")
        classes = {
            self._name(key): self._policy(self._name(key), value)
            for key, value in self._pairs(given["classes"], "classes")
        }
        if not classes:
            self._refuse(given["classes"].start_mark, "no class is given; at least one is expected")
        default = self._known(given["default"], classes)
        rules = tuple(self._rule(one, classes) for one in self._list(given.get("rules"), "rules"))
        trust = tuple(self._trust(one) for one in self._list(given.get("trust"), "trust"))
        return Policies(default, classes, rules, trust)

    # ---- classes and rules ------------------------------------------------------------------

    def _policy(self, name: str, node: Node) -> Policy:
        read: dict[str, Callable[[Node], object]] = {
            "ttl": lambda one: _IDLE if self._text(one) == "session" else self._duration(one),
            "from": lambda one: self._choice(one, ("created", "said")) == "said",
            "at_end": lambda one: self._choice(one, get_args(End)),
            "archive": self._duration,
            "restart": self._boolean,
            "join": self._boolean,
            "models": self._boolean,
            "shown": lambda one: self._choice(one, ("always", "asked")) == "asked",
            "uses": lambda one: None if self._text(one) == "none" else self._whole(one, 1, 1_000_000),
            "extend": self._extension,
            "boost": lambda one: self._number(one, -1, 1),
            "half_life": self._duration,
            "start": lambda one: self._whole(one, 0, MOST),
            "prune": self._boolean,
            "evict": self._boolean,
            "about": self._text,
        }
        given = self._mapping(node, tuple(read), f"the class {name}")
        values: dict[str, Any] = {key: read[key](value) for key, value in given.items()}
        if "from" in values:
            values["said"] = values.pop("from")
        if "shown" in values:
            values["asked"] = values.pop("shown")
        values["session"] = "ttl" in given and given["ttl"].value == "session"
        if values["session"] and values.get("said"):
            self._refuse(given["from"].start_mark, "what lives as long as a session can't count from when it was said")
        if values.get("at_end") == "erase" and "archive" in values:
            self._refuse(given["archive"].start_mark, "archive has no meaning where at_end is erase")
        start = values.get("start", START)
        if "extend" in values and values["extend"].above < start:
            self._refuse(given["extend"].start_mark, f"extend must be above the utility that notes start with, {start}")
        return Policy(name, **values)

    def _extension(self, node: Node) -> Extension:
        given = self._mapping(node, ("above", "by"), "extend", whole=True)
        by = self._duration(given["by"])
        if by is None:
            self._refuse(given["by"].start_mark, "extend needs a time, not none")
        return Extension(self._whole(given["above"], 0, MOST), by)

    def _rule(self, node: Node, classes: Mapping[str, Policy]) -> Rule:
        given = self._mapping(node, ("when", "class"), "a rule", whole=True)
        read: dict[str, Callable[[Node], object]] = {
            **self._origin,
            "tags": lambda one: tuple(self._text(tag) for tag in self._list(one, "tags")),
            "pattern": self._pattern,
            "says": lambda one: self._choice(one, get_args(Says)),
        }
        return self._when(self._known(given["class"], classes), given["when"], read)

    def _trust(self, node: Node) -> Rule:
        """Return a rule of trust, which can't ask for what a text says: a document's tags stand in it, too."""
        given = self._mapping(node, ("when", "class"), "a rule of trust", whole=True)
        return self._when(self._choice(given["class"], TRUST), given["when"], self._origin)

    @property
    def _origin(self) -> dict[str, Callable[[Node], object]]:
        """What reads the conditions on where a source is from."""
        return {
            "kind": lambda one: self._choice(one, get_args(SourceKind)),
            **dict.fromkeys(("role", "speaker", "agent", "session"), self._text),
        }

    def _when(self, name: str, node: Node, read: Mapping[str, Callable[[Node], object]]) -> Rule:
        when = self._mapping(node, tuple(read), "when")
        if not when:
            self._refuse(node.start_mark, f"a rule without a condition fits all; give {', '.join(read)}")
        values: dict[str, Any] = {key: read[key](value) for key, value in when.items()}
        return Rule(name, **values)

    # ---- values -----------------------------------------------------------------------------

    def _known(self, node: Node, classes: Mapping[str, Policy]) -> str:
        name = self._text(node)
        if name not in classes:
            self._refuse(node.start_mark, f"there is no class {name!r}; the classes are {', '.join(classes)}")
        return name

    def _name(self, node: Node) -> str:
        name = self._text(node)
        if not _NAME.fullmatch(name):
            self._refuse(node.start_mark, f"{name!r} is no name of a class: letters, digits, - and _ are expected")
        return name

    def _duration(self, node: Node) -> timedelta | None:
        text = self._text(node)
        found = _DURATION.fullmatch(text)
        if text == "none":
            return None
        if not found or int(found[1]) == 0:
            self._refuse(node.start_mark, f"{text!r} is no duration; {_A_DURATION} is expected")
        return timedelta(**{_UNITS[found[2]]: int(found[1])})

    def _choice(self, node: Node, choices: tuple[str, ...]) -> str:
        text = self._text(node)
        if text not in choices:
            self._refuse(node.start_mark, f"{text!r} is none of {', '.join(choices)}")
        return text

    def _whole(self, node: Node, least: int, most: int) -> int:
        text = self._text(node)
        if not text.isdecimal() or not text.isascii() or not least <= int(text) <= most:
            self._refuse(node.start_mark, f"{text!r} is no whole number from {least} to {most:,}")
        return int(text)

    def _number(self, node: Node, least: float, most: float) -> float:
        text = self._text(node)
        number = float(text) if _NUMBER.fullmatch(text) else None
        if number is None or not least <= number <= most:
            self._refuse(node.start_mark, f"{text!r} is no number from {least} to {most}")
        return number

    def _boolean(self, node: Node) -> bool:
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:bool":
            self._refuse(node.start_mark, "true or false is expected")
        return node.value.lower() in ("true", "yes", "on")

    def _pattern(self, node: Node) -> Pattern:
        """Return a pattern of RE2: whatever it is, and whatever it reads, it takes linear time, as `re` does not."""
        try:
            import re2
        except ImportError:
            self._refuse(node.start_mark, str(MissingExtra("a pattern", "patterns")).rstrip("."))
        options = re2.Options()
        options.log_errors = False
        try:
            pattern = re2.compile(self._text(node), options)
        except UnicodeEncodeError:
            self._refuse(node.start_mark, f"{node.value!r} is no text, and so no regular expression")
        except re2.error as error:
            why = error.args[0].decode(errors="replace")
            self._refuse(node.start_mark, f"{node.value!r} is no regular expression of RE2: {why}")
        if pattern.programsize > _LARGEST:
            self._refuse(node.start_mark, f"{node.value!r} takes too long; let its parts repeat less often")
        return cast("Pattern", pattern)

    def _text(self, node: Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            self._refuse(node.start_mark, "a word is expected")
        return str(node.value)

    # ---- structure --------------------------------------------------------------------------

    def _mapping(self, node: Node, keys: tuple[str, ...], of: str, *, whole: bool = False) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for key, value in self._pairs(node, of):
            name = self._text(key)
            if name not in keys:
                self._refuse(key.start_mark, f"{of} has the unknown key {name!r}; the keys are {', '.join(keys)}")
            found[name] = value
        for needed in keys if whole else ():
            if needed not in found:
                self._refuse(node.start_mark, f"{of} needs {needed}")
        return found

    def _pairs(self, node: Node, of: str) -> list[tuple[Node, Node]]:
        if not isinstance(node, yaml.MappingNode):
            self._refuse(node.start_mark, f"{of} must be a mapping of names to values")
        seen = set[object]()
        for key, _ in node.value:
            if key.value in seen if isinstance(key.value, str) else False:
                self._refuse(key.start_mark, f"{key.value!r} comes twice")
            seen.add(key.value if isinstance(key.value, str) else id(key))
        return list(node.value)

    def _list(self, node: Node | None, of: str) -> list[Node]:
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            self._refuse(node.start_mark, f"{of} must be a list")
        return list(node.value)

    def _refuse(self, mark: Node, what: str) -> NoReturn:
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise PolicyError(f"{self._path}{place}: {what}.")
