"""Where similarity is blind: two notes that share their words and disagree.

"I like cats" and "I do not like cats" share every word that scores are made of. A pair that differs in what is
denied, a number, a date, a name, a noun's gender or a tense is never merged; which of the two holds is left open here.
Opposites that no list holds ("love" and "hate") are not noticed.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import product

from memgraph_engine.gate.facts import Facts


def difference(new: Sequence[Facts], old: Sequence[Facts]) -> str:
    """Say in what any line of a new note differs from any of an old one, or ''.

    >>> from memgraph_engine.gate.facts import facts
    >>> from memgraph_engine.model.text import Said
    >>> new, old = (facts(Said("Ana", text, ""), "english") for text in ("I have no cats.", "I have two cats."))
    >>> difference([new], [old])
    'Only one of them denies "cat".'
    """
    found = (check(line, other) for line, other in product(new, old) for check in CHECKS.values())
    return next(filter(None, found), "")


def _denial(new: Facts, old: Facts) -> str:
    opposed = (new.denied & old.affirmed) | (new.affirmed & old.denied)
    # what a new or a shorter line says should be found in the other; that a long old one denies more is no wonder
    for line, other in ((new, old), *([(old, new)] if len(old.terms) < len(new.terms) else [])):
        if not line.denied & other.denied:
            opposed |= line.denied
    return f"Only one of them denies {quoted(opposed)}." if opposed else ""


def _number(new: Facts, old: Facts) -> str:
    return swapped("number", new.numbers, old.numbers)


def _date(new: Facts, old: Facts) -> str:
    for kind, values in new.dates.items():
        if said := swapped(kind, values, old.dates.get(kind, frozenset())):
            return said
    return ""


def _name(new: Facts, old: Facts) -> str:
    """Other names, said or implied; or the same two with their parts exchanged."""
    said = [{name for name in one.names if name not in other.plain} for one, other in ((new, old), (old, new))]
    meant = [names | ({one.implied} - {""}) for names, one in zip(said, (new, old), strict=True)]
    for names in (said, meant):
        if evidence := swapped("name", frozenset(names[0]), frozenset(names[1])):
            return evidence
    if new.opens != old.opens and new.opens in said[1] and old.opens in said[0]:
        return f'One is about "{new.opens}" first, the other about "{old.opens}".'
    for i in (0, 1) if len(old.terms) < len(new.terms) else (0,):
        about = (new, old)[i].opens
        if about in said[i] and about not in meant[1 - i]:
            return f'Only one of them is about "{about}".'
    return ""


def _gender(new: Facts, old: Facts) -> str:
    """Tell "mi abuela" from "mi abuelo", which have one stem."""
    pairs = [
        (noun, other)
        for (stem, noun), (same, other) in product(new.nouns - old.nouns, old.nouns - new.nouns)
        if stem == same and _feminine(noun) != _feminine(other)
    ]
    return swapped("noun", frozenset(noun for noun, _ in pairs), frozenset(other for _, other in pairs))


def _feminine(noun: str) -> bool:
    return noun.removesuffix("s").endswith("a")


def _tense(new: Facts, old: Facts) -> str:
    """Tell what was from what is or will be."""
    told = [{(verb, tense == "past") for verb, tense in line.verbs} for line in (new, old)]
    sure = [{(verb, past) for verb, past in line if (verb, not past) not in line} for line in told]
    changed = {verb for verb, past in sure[0] if (verb, not past) in sure[1]}
    return (
        f"Only one of them has {quoted([verb.removeprefix('be ') for verb in changed])} in the past." if changed else ""
    )


CHECKS: dict[str, Callable[[Facts, Facts], str]] = {
    "negation": _denial,
    "number": _number,
    "date": _date,
    "name": _name,
    "gender": _gender,
    "tense": _tense,
}


def swapped(what: str, new: frozenset[str], old: frozenset[str]) -> str:
    """Say what each has that the other lacks; a detail that only one has is no contradiction."""
    if new <= old or old <= new:
        return ""
    return f"They differ in a {what}: {quoted(new - old)}, not {quoted(old - new)}."


def quoted(words: Collection[str]) -> str:
    """Return a few words as evidence has them."""
    return ", ".join(f'"{word.lstrip("#")}"' for word in sorted(words)[:3])
