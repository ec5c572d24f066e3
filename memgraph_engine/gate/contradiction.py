"""Where similarity is blind: two notes that share their words and disagree.

"I like cats" and "I do not like cats" share every word that scores are made of. A pair that differs in what is
denied, a number, a date, a name or a tense is never merged; it replaces the old note only if the new one says so.
Opposites that no list holds ("love" and "hate") are not noticed.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from memgraph_engine.gate.facts import Facts
from memgraph_engine.gate.words import LISTED
from memgraph_engine.language import tokenize, word_list

Kind = Literal["none", "differs", "corrects"]


@dataclass(frozen=True, slots=True)
class Difference:
    """What a new note says otherwise than an old one, and the sentence that explains it; '' if nothing.

    differs   they can't be merged; whether one of them is wrong is left open
    corrects  the new note says that something has changed, and is about the same
    """

    kind: Kind
    evidence: str


NONE = Difference("none", "")


def compare(new: Sequence[Facts], old: Sequence[Facts], language: str) -> Difference:
    """Compare the lines of a new note with those of an old one: the gravest difference between any two.

    >>> from memgraph_engine.gate.facts import facts
    >>> from memgraph_engine.model.text import Said
    >>> new, old = (facts(Said("Ana", text, ""), "english") for text in ("I have no cats.", "I have two cats."))
    >>> compare([new], [old], "english")
    Difference(kind='differs', evidence='Only one of them denies "cat".')
    """
    found = NONE
    for line in new:
        for other in old:
            difference = difference_of(line, other, language)
            if difference.kind == "corrects":
                return difference
            if found.kind == "none":
                found = difference
    return found


def difference_of(new: Facts, old: Facts, language: str) -> Difference:
    """Compare two lines."""
    for check in CHECKS.values():
        if evidence := check(new, old):
            cue = _cue(new, old, language)
            return (
                Difference("corrects", f'{evidence} The new one says "{cue}".')
                if cue
                else Difference("differs", evidence)
            )
    return NONE


def _denial(new: Facts, old: Facts) -> str:
    opposed = (new.denied & old.affirmed) | (new.affirmed & old.denied)
    # what a new or a shorter line says should be found in the other; that a long old one denies more is no wonder
    for line, other in ((new, old), *([(old, new)] if len(old.terms) < len(new.terms) else [])):
        if not line.denied & other.denied:
            opposed |= line.denied
    return f"Only one of them denies {_quoted(opposed)}." if opposed else ""


def _number(new: Facts, old: Facts) -> str:
    return _swapped("number", new.numbers, old.numbers)


def _date(new: Facts, old: Facts) -> str:
    for kind, values in new.dates.items():
        if said := _swapped(kind, values, old.dates.get(kind, frozenset())):
            return said
    return ""


def _name(new: Facts, old: Facts) -> str:
    """Other names, said or implied; or the same two with their parts exchanged."""
    said = [{name for name in one.names if name not in other.plain} for one, other in ((new, old), (old, new))]
    meant = [names | ({one.implied} - {""}) for names, one in zip(said, (new, old), strict=True)]
    for names in (said, meant):
        if swapped := _swapped("name", frozenset(names[0]), frozenset(names[1])):
            return swapped
    if new.opens != old.opens and new.opens in said[1] and old.opens in said[0]:
        return f'One is about "{new.opens}" first, the other about "{old.opens}".'
    for i in (0, 1) if len(old.terms) < len(new.terms) else (0,):
        about = (new, old)[i].opens
        if about in said[i] and about not in meant[1 - i]:
            return f'Only one of them is about "{about}".'
    return ""


def _tense(new: Facts, old: Facts) -> str:
    """Tell what was from what is or will be."""
    told = [{(verb, tense == "past") for verb, tense in line.verbs} for line in (new, old)]
    sure = [{(verb, past) for verb, past in line if (verb, not past) not in line} for line in told]
    changed = {verb for verb, past in sure[0] if (verb, not past) in sure[1]}
    return (
        f"Only one of them has {_quoted([verb.removeprefix('be ') for verb in changed])} in the past."
        if changed
        else ""
    )


CHECKS: dict[str, Callable[[Facts, Facts], str]] = {
    "negation": _denial,
    "number": _number,
    "date": _date,
    "name": _name,
    "tense": _tense,
}


def _swapped(what: str, new: frozenset[str], old: frozenset[str]) -> str:
    """Say what each has that the other lacks; a detail that only one has is no contradiction."""
    if new <= old or old <= new:
        return ""
    return f"They differ in a {what}: {_quoted(new - old)}, not {_quoted(old - new)}."


def _cue(new: Facts, old: Facts, language: str) -> str:
    """Return the words by which the new line says that it replaces the old one, or ''.

    They must be new, of the same subject, and on the same matter: half of the shorter one's content words,
    or both say where somebody lives.
    """
    cues = new.cues - old.cues
    if not cues or not {*new.names, new.implied} & {*old.names, old.implied} - {""}:
        return ""
    words = {part for cue in cues for part in cue.split("_")}
    matters = [line.terms - set(line.names) - {t for w in words for t in tokenize(w, language)} for line in (new, old)]
    if 2 * len(matters[0] & matters[1]) >= min(map(len, matters)) > 0:
        return min(cues).replace("_", " ")
    if language not in LISTED:
        return ""
    homes = word_list(f"{language}-residence")
    stems = {stem for word in homes for stem in tokenize(word, language)}
    return min(cues & homes, default="") if new.terms & stems and old.terms & stems else ""


def _quoted(words: Collection[str]) -> str:
    return ", ".join(f'"{word.lstrip("#")}"' for word in sorted(words)[:3])
