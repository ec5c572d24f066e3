"""What is known about a user: attributes by name, each with who told it, and from when to when it held."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from memgraph_engine.interface.results import Result
from memgraph_engine.language.terms import spoken
from memgraph_engine.model.marker import as_part
from memgraph_engine.model.memory import NEVER

MANY: Mapping[str, bool] = {
    "name": False,
    "nickname": False,
    "residence": False,
    "origin": False,
    "job": False,
    "employer": False,
    "relationship": False,
    "diet": False,
    "birthday": False,
    "age": False,
    "allergy": True,
    "intolerance": True,
    "language": True,
    "hobby": True,
    "pet": True,
    "child": True,
}
"""The attributes that are looked for in what is said, each with whether it may have several values at once."""

WITHOUT = ("no ", "sin ")
"""How a `diet` begins that says what somebody does without: "no meat". It stands beside "vegetarian"."""

LONGEST_NAME = 40
LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True, repr=False)
class Delta(Result):
    """One change of a profile: an attribute has a value from now on, or, with `ends`, has it no more ('' for any)."""

    name: str
    value: str = ""
    ends: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Attribute(Result):
    """What a profile knows by a name, such as "residence", and since when: MLA-ARC, section 3.3.

    It is true from `valid_from` (when it was said) to `valid_to`, the year 9999 as far as is known. The memory knows it
    since `recorded_at`, by `decision`, which `undo` takes back. It was told by the source `source` of the note `note`;
    both are '' for a value that was set without words, and `note` is '' for one that `set_profile` gave.
    """

    brief = ("name", "value")

    name: str
    value: str
    valid_from: datetime
    valid_to: datetime
    recorded_at: datetime
    decision: str
    source: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Profile(Result):
    """What a memory knows about somebody: the `attributes` that hold, by name, and those that held before.

    `subject` is a speaker's name, '' for the user of the memory.
    """

    brief: ClassVar[tuple[str, ...]] = ("subject", "attributes")

    subject: str
    attributes: tuple[Attribute, ...] = ()
    former: tuple[Attribute, ...] = ()

    @property
    def text(self) -> str:
        """A line for each name: "residence: Lisbon". It is '' for an empty profile.

        A name with a colon or a comma, and a value with a comma beside others, stand in quotes.
        """
        values: dict[str, list[str]] = {}
        for one in self.attributes:
            values.setdefault(one.name, []).append(one.value)
        return "\n".join(f"{as_part(name, ':,')}: {_listed(some)}" for name, some in values.items())


@dataclass(frozen=True, slots=True)
class Stated:
    """An attribute as one decision told it, or, with `ends`, that it holds no more from then on ('' for any value)."""

    attribute: Attribute
    ends: bool = False


def folded(subject: str, stated: Sequence[Stated]) -> Profile:
    """Return the profile that follows from what was told, in the order in which it was true.

    A new value closes the one before, unless the attribute has several at once, or both may be true of a diet. What is
    told twice is told by whoever told it first. What a later note replaced held until then.
    """
    held: dict[str, list[Attribute]] = {}
    former: list[Attribute] = []
    for one in sorted(stated, key=lambda one: one.attribute.valid_from):
        new = one.attribute
        some = held.setdefault(new.name, [])
        told = Delta(new.name, new.value, one.ends)
        kept = [old for old in some if not closes(told, Delta(old.name, old.value))]
        former += [replace(old, valid_to=min(old.valid_to, new.valid_from)) for old in some if old not in kept]
        if not one.ends and not any(_same(old, new) for old in kept):
            kept.append(new)
        held[new.name] = kept
    holding = [one for some in held.values() for one in some]
    former += [one for one in holding if one.valid_to < NEVER]
    order = {name: place for place, name in enumerate(MANY)}
    return Profile(
        subject,
        tuple(
            sorted(
                (one for one in holding if one.valid_to == NEVER),
                key=lambda one: (order.get(one.name, len(order)), one.name, one.valid_from),
            )
        ),
        tuple(sorted(former, key=lambda one: (one.valid_from, one.name))),
    )


def is_gone(told: Delta, former: str, newer: Collection[str]) -> bool:
    """Tell whether a value holds no more by a later note, by the words of it that are true no more, `former`.

    Where none are named, a note that tells attributes itself, `newer`, changes these, and any other one all.

    >>> home = Delta("residence", "Leeds")
    >>> is_gone(home, "in Leeds", ()), is_gone(home, "", {"employer"}), is_gone(home, "", ())
    (True, False, True)
    """
    if not former:
        return not newer or told.name in newer
    known, gone = _words(told.value), _words(former)
    return known <= gone or gone <= known


def _listed(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else ", ".join(as_part(value, ",") for value in values)


def _same(one: Attribute, other: Attribute) -> bool:
    return one.value.casefold() == other.value.casefold()


def _words(value: str) -> set[str]:
    return {*spoken(value)}


def closes(one: Delta, old: Delta) -> bool:
    """Tell whether what is told of an attribute ends another value that it had.

    >>> closes(Delta("age", "35"), Delta("age", "34")), closes(Delta("allergy", "nuts"), Delta("allergy", "eggs"))
    (True, False)
    """
    if one.name != old.name or one.ends:  # "choir" ends "singing in a choir"; '' ends all
        return one.name == old.name and _words(one.value) <= _words(old.value)
    beside = old.name == "diet" and any(value.casefold().startswith(WITHOUT) for value in (one.value, old.value))
    return not MANY.get(old.name, False) and not beside and one.value.casefold() != old.value.casefold()
