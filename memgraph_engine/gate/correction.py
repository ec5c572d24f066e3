"""Where a new note takes an old one back: it says so, about the same, and they can't both hold.

That two notes differ keeps them apart; that one replaces the other takes it out of sight. So more is asked: of one
plain sentence each, the same subject, all that the new one denies or puts in another's place, and a phrase like
"no longer" or "actually". What is missed stays beside what it corrects; what is hidden wrongly is not found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from memgraph_engine.gate.contradiction import CHECKS, quoted, swapped
from memgraph_engine.gate.facts import Facts, facts_of, speaker_of
from memgraph_engine.gate.words import Lists, Word, lists_of, sentences_of
from memgraph_engine.language import LISTED, tokenize
from memgraph_engine.model.text import Said

_KINDS = ("number", "date", "name")
_REACH = 3  # words from a verb of residence to the place: "live now in Porto"


@dataclass(frozen=True, slots=True)
class Statement:
    """A plain sentence: no question, and nothing in it that is only wished, thought or said by another.

    `subject` is whom or what it is about: a name in lower case, the stem of a noun, the speaker (`own`) where it
    begins with neither, or '' for anybody. `matter` are the stems of its words, without names, times, numbers and
    grammar, `terms` with times, `more` without verbs of residence; `forms` are stems with their words where an ending
    tells who does it. `home` is where the subject lives by it, `moved` where it goes to.
    """

    facts: Facts
    own: str
    subject: str
    matter: frozenset[str]
    terms: frozenset[str]
    more: frozenset[str]
    forms: frozenset[tuple[str, str]]
    home: frozenset[str]
    moved: frozenset[str]

    @property
    def weight(self) -> frozenset[str]:
        """What it tells, names among it."""
        return self.matter | {*self.facts.names}

    @property
    def timed(self) -> bool:
        """Whether it names a time or a number."""
        return self.terms != self.matter or bool(self.facts.numbers or self.facts.dates)


def statements(said: Said, language: str) -> list[Statement]:
    """Read what a line states; nothing in a language without word lists.

    >>> said = Said("Ana", "My cat is old. I fed it!", "")
    >>> [(one.subject, sorted(one.matter)) for one in statements(said, "english")]
    [('cat', ['cat', 'old']), ('ana', ['fed'])]
    """
    if language not in LISTED:
        return []
    lists, own, found = lists_of(language), speaker_of(said), []
    for words in sentences_of(said.text):
        if words[0].asked or _hedged(words, lists):
            continue
        facts = facts_of(words, own, language)
        passed = lists.light_words | lists.adverbs | lists.interjections | lists.numbers.keys() | {*facts.names}
        passed |= {part for cue in facts.cues for part in cue.split("_")}
        kept = [word.lower for word in words if word.lower[0].isalpha() and word.lower not in passed]
        plain = [word for word in kept if word not in lists.time_words and word not in lists.dates]
        terms, matter = (
            frozenset(stem for word in some for stem in tokenize(word, language)) for some in (kept, plain)
        )
        subject = _subject(words, facts, own, lists, language)
        home, moved = _places(words, facts, subject, lists, language)
        more = matter - {stem for verb in lists.residence for stem in tokenize(verb, language)}
        told_by_ending = kept if language == "spanish" else ()
        forms = frozenset((stem, word) for word in told_by_ending for stem in tokenize(word, language))
        found.append(Statement(facts, own, subject, matter, terms, more, forms, home | moved, moved))
    return found


def _hedged(words: Sequence[Word], lists: Lists) -> bool:
    lower = [word.lower for word in words]
    return not lists.hedges.isdisjoint({*lower, *("_".join(pair) for pair in pairwise(lower))})


def correction(new: Sequence[Statement], old: Sequence[Statement]) -> str:
    """Say how a new note takes an old one back, or ''.

    >>> lines = "I no longer eat fish.", "I eat fish with rice."
    >>> new, old = (statements(Said("Ana", line, ""), "english") for line in lines)
    >>> correction(new, old)
    'Only one of them denies "eat", "fish". The new one says "no longer".'
    """
    cued = [one for one in new if one.facts.cues]
    return next(filter(None, (_takes_back(one, other) for one, other in product(cued, _most_of(old)))), "")


def relocation(new: Sequence[Statement], old: Sequence[Statement], *, later: bool) -> str:
    """Say how one has moved by a new note from where one lives by the old one, or ''.

    No more may be said than that, and a move at some time, "in 1999" or "last week", counts only if that is known to
    be `later` than the old note.

    >>> new, old = (statements(Said("Ana", line, ""), "english") for line in ("I moved to Faro.", "I live in Lisbon."))
    >>> relocation(new, old, later=False)
    'They differ in a name: "faro", not "lisbon". The new one says "moved to".'
    """
    moves = [one for one in new if one.moved and (later or not one.timed)]
    pairs = (
        (one, other) for one, other in product(moves, _most_of(old)) if _same(one, other) and one.more <= other.matter
    )
    return next(
        filter(None, (_told(swapped("name", one.moved, other.home), one.facts.cues) for one, other in pairs)), ""
    )


def _most_of(old: Sequence[Statement]) -> list[Statement]:
    """Return what is more than half of a note, repeats left out: a detail hides no long one."""
    whole = sum(map(len, {one.weight for one in old}))
    return [one for one in old if 2 * len(one.weight) > whole]


def _same(new: Statement, old: Statement) -> bool:
    """Tell whether both are about the same: "trabajo" and "trabaja" are two who work."""
    shared = {stem for stem, _ in new.forms} & {stem for stem, _ in old.forms}
    return bool(new.subject) and new.subject == old.subject and shared <= {stem for stem, _ in new.forms & old.forms}


def _told(evidence: str, cues: frozenset[str]) -> str:
    return f'{evidence} The new one says "{min(cues).replace("_", " ")}".' if evidence else ""


def _takes_back(new: Statement, old: Statement) -> str:
    cues = new.facts.cues - old.facts.cues
    return _told(_denied(new, old) or _exchanged(new, old), cues) if cues and _same(new, old) else ""


def _denied(new: Statement, old: Statement) -> str:
    """Say what the one denies and the other affirms: all of it, since "not in the evening" leaves the mornings."""
    denied, affirmed = new.facts.denied, old.facts.affirmed
    if not denied:
        denied, affirmed = new.terms | {*new.facts.names} - {new.subject}, old.facts.denied
    shared, whole = (one - {old.subject, old.own} for one in (new.weight & old.weight, old.weight))
    most = 2 * len(shared) >= len(whole)
    return f"Only one of them denies {quoted(denied)}." if denied and denied <= affirmed and most else ""


def _exchanged(new: Statement, old: Statement) -> str:
    """Say which one number, date or name of the old one has another in its place, while all else is as it was."""
    if new.facts.denied or old.facts.denied:  # not to do one thing leaves all others
        return ""
    if not new.matter or not new.matter <= old.matter or 2 * len(new.matter) < len(old.matter):
        return ""
    found = {kind: evidence for kind in _KINDS if (evidence := CHECKS[kind](new.facts, old.facts))}
    if len(found) != 1 or ("date" not in found and not new.terms <= old.terms):
        return ""
    if "name" in found and len({*new.facts.names} ^ {*old.facts.names}) > 2:  # one for one
        return ""
    return next(iter(found.values()))


def _places(
    words: Sequence[Word], facts: Facts, subject: str, lists: Lists, language: str
) -> tuple[frozenset[str], frozenset[str]]:
    """Return where the subject lives by these words, and where it has moved to: names behind "live in", "moved to"."""
    home, moved = set[str](), set[str]()
    lower = [word.lower for word in words]
    for place, name in enumerate(lower):
        if name not in facts.names or not {*tokenize(name, language)} <= facts.affirmed:
            continue
        if "_".join(lower[place - 2 : place]) in lists.moves:
            moved.add(name)
        lives = [at for at in range(max(place - 1 - _REACH, 0), place - 1) if lower[at] in lists.residence]
        if lives and lower[place - 1] in lists.locatives:
            before = lower[lives[-1] - 1] if lives[-1] else subject  # "saw a band live in Paris" is no home
            if before == subject or before in lists.first_person | lists.adverbs | lists.light_words:
                home.add(name)
    return frozenset(home), frozenset(moved)


def _subject(words: Sequence[Word], facts: Facts, own: str, lists: Lists, language: str) -> str:
    """Find the first word that can be one; behind a preposition none can.

    "My friend Max" is Max, "a friend" is anybody.
    """
    owned = anybody = False
    for place, written in enumerate(words):
        word, name = written.lower, written.lower.partition("'")[0]
        behind = place and words[place - 1 - owned].lower in lists.prepositions
        anybody = anybody or word in lists.indefinite
        if word in lists.determiners or (word.endswith("'s") and (owned or name in facts.names)):
            owned = not behind
        elif owned and word[0].isalpha():
            next_one = words[place + 1].lower if place + 1 < len(words) else ""
            named = next((one for one in (word, next_one) if one in facts.names), "")
            noun = "-".join(tokenize(word, language)) if language == "english" else word  # "hermano" is no "hermana"
            return named or ("" if anybody else noun or own)
        elif not behind and (word in lists.first_person or name in lists.pronouns or name in facts.names):
            return own if word in lists.first_person else name
    return "" if anybody else own
