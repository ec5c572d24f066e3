"""What is known about a user by name and value: the facts that tell an attribute, and what ends one of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from memgraph_engine.interface.results import Result
from memgraph_engine.language.terms import spoken
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.marker import as_part

LASTING = frozenset({"origin", "birthday"})
"""The attributes that no later note ends."""

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
class Profile(Result):
    """What a memory knows about somebody by name and value (MLA-ARC, section 3.3): the facts that tell an attribute.

    `attributes` hold, `former` held before; the predicate of each is its name. `subject` is a speaker's name, '' for
    the user of the memory.
    """

    brief: ClassVar[tuple[str, ...]] = ("subject", "attributes")

    subject: str
    attributes: tuple[Fact, ...] = ()
    former: tuple[Fact, ...] = ()

    @property
    def text(self) -> str:
        """A line for each name: "residence: Lisbon". It is '' for an empty profile.

        A name with a colon or a comma, and a value with a comma beside others, stand in quotes.
        """
        values: dict[str, list[str]] = {}
        for one in self.attributes:
            values.setdefault(one.predicate, []).append(one.value)
        return "\n".join(f"{as_part(name, ':,')}: {_listed(some)}" for name, some in values.items())

    def held(self, told: Delta, at: datetime) -> Fact | None:
        """Return the fact that a value held then, None where the profile has none, or it is told to end."""
        some = (
            one
            for one in (*self.attributes, *self.former)
            if not told.ends and one.since <= at and (one.until is None or at <= one.until)
        )
        return next((one for one in some if _same(told, _delta(one))), None)


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact as one decision told it, or, with `ends`, that it holds no more from then on ('' for any value)."""

    fact: Fact
    ends: bool = False


def folded(subject: str, stated: Sequence[Stated]) -> Profile:
    """Return the profile that follows from what was told, in the order in which it was true.

    A new value closes the one before, unless the attribute has several at once, or both may be true of a diet. What is
    told twice is told by whoever told it first, with the sources of both. What a later note replaced held until then.
    """
    held: dict[str, list[Fact]] = {}
    former: list[Fact] = []
    for one in sorted(stated, key=lambda one: one.fact.since):
        new, told, kept = one.fact, replace(_delta(one.fact), ends=one.ends), list[Fact]()
        for old in held.get(new.predicate, ()):
            if not closes(told, _delta(old)):
                kept.append(old)
            else:
                former.append(
                    replace(old, until=new.since, replaced_by=new.note)
                    if old.until is None or new.since < old.until
                    else old
                )
        same = [at for at, old in enumerate(kept) if _same(told, _delta(old))]
        if same and not one.ends:
            kept[same[0]] = replace(kept[same[0]], sources=(*new.sources, *kept[same[0]].sources))
        elif not one.ends:
            kept.append(new)
        held[new.predicate] = kept
    holding = [one for some in held.values() for one in some]
    order = {name: place for place, name in enumerate(MANY)}
    holds = [one for one in holding if one.holds]
    return Profile(
        subject,
        tuple(sorted(holds, key=lambda one: (order.get(one.predicate, len(order)), one.predicate, one.since))),
        tuple(
            sorted((*former, *(one for one in holding if not one.holds)), key=lambda one: (one.since, one.predicate))
        ),
    )


def is_gone(told: Delta, former: str, newer: Collection[str]) -> bool:
    """Tell whether a value holds no more by a later note, by the words of it that are true no more, `former`.

    Where none are named, a note that tells attributes itself, `newer`, changes these, and any other one all. Of LASTING
    attributes none ends: who moves was born where he was before.

    >>> home = Delta("residence", "Leeds")
    >>> is_gone(home, "in Leeds", ()), is_gone(home, "", {"employer"}), is_gone(home, "", ())
    (True, False, True)
    """
    if told.name in LASTING:
        return False
    if not former:
        return not newer or told.name in newer
    known, gone = _words(told.value), _words(former)
    return known <= gone or gone <= known


def _listed(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else ", ".join(as_part(value, ",") for value in values)


def _delta(fact: Fact) -> Delta:
    return Delta(fact.predicate, fact.value)


def _same(one: Delta, other: Delta) -> bool:
    return (one.name, one.value.casefold()) == (other.name, other.value.casefold())


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
