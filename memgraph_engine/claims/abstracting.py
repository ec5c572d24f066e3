"""Claims in a chat model's words (LightMem, section 3.6 and algorithm 3): asked for, checked, tied to what is known.

What patterns find in a note is claimed whatever a model says; a model adds what no sentence says in one way. Its claims
are read as sentences of notes are, so what patterns refuse is refused here too. Beside that, each follows from a note
that names both of its ends, and names nobody. Notes that say the same in other words support a claim, but never alone:
nobody is told words that no note holds any more.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import BudgetSpent, ModelError, ModelUnavailable
from memgraph_engine.graph import claims as claim_graph
from memgraph_engine.graph.claims import Unread
from memgraph_engine.language.claims import Told, claims_in, denied, identity, is_somebody, legible, worded
from memgraph_engine.language.keywords import key
from memgraph_engine.language.reading import Reading as Text
from memgraph_engine.language.terms import sentences, tokenize
from memgraph_engine.llm.answers import MOST_FAULTS, Number, short_number
from memgraph_engine.llm.role import Request, role
from memgraph_engine.llm.spent import Spent
from memgraph_engine.model.claim import LEAST
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.trust import Trust, below

_NEAR = 5  # stored claims that each note may support in other words
_ROLE = "abstracting"
_MOST = 2  # claims that one note makes, on the mean over a request
_ANCHORS = 20  # claims that a request shows beside its notes


@dataclass(frozen=True, slots=True)
class Found:
    """A claim that a note supports: whose it is, '' for patterns, and whether the note says so in other words."""

    told: Told
    made_by: str = ""
    reworded: bool = False


@dataclass(slots=True)
class Reading:
    """What a note claims. One that is not `done` is to be read by a model in the next run."""

    note: Unread
    text: str
    done: bool = True
    found: dict[tuple[str, str, str], Found] = field(default_factory=dict)

    def add(self, one: Found, language: str) -> None:
        """Take a claim, unless it is there; one in the note's own words stands before one in others."""
        which = identity(one.told, language)
        if which not in self.found or (self.found[which].reworded and not one.reworded):
            self.found[which] = one


@dataclass
class Abstractor:
    """Reads the notes of one scope, by patterns and by the role `abstracting` where it has a model."""

    engine: Engine
    scope: str
    language: str
    spent: Spent
    names: Sequence[str] = ()
    """Those of whom the memory is: no claim of a model names them."""
    abstracted: int = 0
    """Notes that a model read."""
    refused: int = 0
    """Claims of a model that were thrown away."""

    def parts(self, notes: Sequence[Unread]) -> Iterator[list[Reading]]:
        """Yield notes, read by patterns, by as many as a model is asked about at once; what it said is then stored."""
        read = [self._by_patterns(note) for note in notes]
        if not self._asks:
            yield read
            return
        for groups in self.engine.roles.rounds(_ROLE, read, _shown):
            yield [one for group in groups for one in group]

    def abstract(self, part: Sequence[Reading]) -> None:
        """Ask a model what notes say in general, and add to each what it supports."""
        shown = [one for one in part if one.text] if self._asks else []
        if self.spent.beyond or not shown:
            for one in shown:
                one.done = False
            return
        groups = [group for some in _of_one_trust(shown) for group in self.engine.roles.batches(_ROLE, some, _shown)]
        asked = [(group, self._anchors(group)) for group in groups]

        def request(of: tuple[Sequence[Reading], Sequence[Told]]) -> Request:
            return abstracting([one.text for one in of[0]], [(known.kind, known.text) for known in of[1]])

        for (group, near), answer in self.engine.roles.answered(asked, request, self.spent, _left):
            self.abstracted += len(group)
            for claim in answer.items:
                told = self._checked(claim, group)
                self.refused += told is None
                if told:
                    self._support(told, claim, group, near, answer.model)

    @property
    def _asks(self) -> bool:
        """Whether a model is asked; where nothing that it says could be checked, it is shown nothing."""
        return self.engine.roles.has(_ROLE)

    def _by_patterns(self, note: Unread) -> Reading:
        said = [without_recalled(text) for text in note.said]
        shown = [legible(text, self.language) for text in said] if self._asks else []
        one = Reading(note, "\n".join(filter(None, shown)))
        for text in said:
            for told in claims_in(text, self.language):
                one.add(Found(told), self.language)
        return one

    def _anchors(self, group: Sequence[Reading]) -> list[Told]:
        """Return the claims that the notes of a request may support: those nearest to them, and those found in them.

        Nor would what is trusted less be theirs if a model said it of them because it was shown it.
        """
        ids, trust = [one.note.id for one in group], group[0].note.trust
        rows = self.engine.db.run("claims/anchors", scope=self.scope, ids=ids, limit=_NEAR)
        near = [row["id"] for row in rows]  # the nearest first
        stored = {one.claim.id: one.claim for one in claim_graph.told(self.engine.db, [self.scope], near)}
        sure = (stored[id] for id in near if id in stored and stored[id].confidence >= LEAST)
        known = [found.told for one in group for found in one.found.values()]
        known += [Told(one.kind, one.text, one.subject, one.object) for one in sure if not below(one.trust, trust)]
        first: dict[tuple[str, str, str], Told] = {}
        for one in known:
            first.setdefault(identity(one, self.language), one)
        return [*first.values()][:_ANCHORS]

    def _checked(self, claim: Any, group: Sequence[Reading]) -> Told | None:
        """Return a claim of a model that may be told: that can be read, follows from a note, and names nobody."""
        told = worded(claim.relation, claim.text, claim.subject, claim.object, self.language)
        cited = [group[number - 1] for number in dict.fromkeys(claim.notes)]
        if not told or not any(self._says(one, told) for one in cited) or is_somebody(told, self.language):
            return None
        named = _named(f"{claim.subject} {claim.object}", "\n".join(one.text for one in cited), self.language)
        return None if named or self._is_of(told, cited) else told

    def _support(self, told: Told, claim: Any, group: Sequence[Reading], near: Sequence[Told], model: str) -> None:
        """Let the cited notes support a claim, or a known one of its kind that shares an end, if that says the same."""
        known = near[claim.anchor - 1] if claim.anchor else told
        other = identity(known, self.language) != identity(told, self.language)
        if other and (known.kind != told.kind or not self._meet(known, told)):
            known, other = told, False
        for number in dict.fromkeys(claim.notes):
            one = group[number - 1]
            if self._says(one, told):
                one.add(Found(known, model, reworded=other), self.language)
            elif any(self._holds(one.text, end) for end in (told.subject, told.object)):
                one.add(Found(known, model, reworded=True), self.language)

    def _says(self, one: Reading, told: Told) -> bool:
        """Tell whether a note names both ends of a claim, and not only where it denies or asks something."""
        ends = f"{told.subject} {told.object}"
        both = [sentence for sentence in sentences(one.text, self.language) if self._holds(sentence, ends)]
        denies = bool(both) and all(denied(sentence, self.language) for sentence in both)
        return self._holds(one.text, ends) and not denies

    def _holds(self, text: str, end: str) -> bool:
        """Tell whether a text has all words of an end, in whatever form."""
        return {*tokenize(end, self.language)} <= {*tokenize(text, self.language)}

    def _meet(self, known: Told, told: Told) -> bool:
        """Tell whether two claims have an end in common, in the same place."""
        pairs = ((known.subject, told.subject), (known.object, told.object))
        return any(key(one, self.language) == key(other, self.language) for one, other in pairs)

    def _is_of(self, told: Told, cited: Sequence[Reading]) -> bool:
        """Tell whether a claim names somebody who spoke, or whose memory it is."""
        ends = {*tokenize(f"{told.subject} {told.object}", self.language)}
        whose = (*self.names, *(speaker for one in cited for speaker in one.note.speakers))
        return not ends.isdisjoint(term for name in whose for term in tokenize(name, self.language))


def abstracting(notes: Sequence[str], claims: Sequence[tuple[str, str]]) -> Request:
    """Ask what notes, numbered from 1, say in general; `claims` are known already, each its relation and its text.

    >>> request = abstracting(["I read that whales are mammals."], [("is_a", "Whales are animals")])
    >>> request.variables["most"], sorted(request.asked)
    (2, [1])
    """
    known = [{"claim": at, "relation": relation, "text": text} for at, (relation, text) in enumerate(claims, 1)]
    most, anchors = _MOST * len(notes), range(len(known) + 1)

    def check(claims: Sequence[Any], asked: frozenset[Number]) -> None:
        if len(claims) > most:
            raise ValueError(f"there are {len(claims)} claims; at most {most} are asked for")
        given = dict.fromkeys(note for claim in claims for note in claim.notes)
        faults = [f"there is no note {short_number(note)}" for note in given if note not in asked]
        others = dict.fromkeys(claim.anchor for claim in claims)
        faults += [f"there is no claim {short_number(anchor)}" for anchor in others if anchor not in anchors]
        faults += ["a claim names no note that it follows from"] * any(not claim.notes for claim in claims)
        if faults:
            raise ValueError("; ".join(faults[:MOST_FAULTS]))

    return role(_ROLE).request([{"text": text} for text in notes], check=check, most=most, claims=known)


def _of_one_trust(some: Iterable[Reading]) -> Iterable[list[Reading]]:
    """Return notes by how far they are trusted: a model may draw a claim of one from the words of another."""
    found: dict[Trust, list[Reading]] = {}
    for one in some:
        found.setdefault(one.note.trust, []).append(one)
    return found.values()


def _shown(one: Reading) -> dict[str, str]:
    """Return what a model sees of a note: nothing of one that says nothing that may make a claim."""
    return {"text": one.text} if one.text else {}


def _left(asked: tuple[Sequence[Reading], Sequence[Told]], error: ModelError) -> None:
    """Make up for what passes in the next run; what a model can't do it is not asked for again."""
    for one in asked[0]:
        one.done = not isinstance(error, BudgetSpent | ModelUnavailable)


def _named(ends: str, text: str, language: str) -> bool:
    """Tell whether a word of some ends is a name in a text: it has a capital wherever it stands.

    At the beginning of a sentence a capital tells nothing: if it stands nowhere else, a name is what the ends write so.

    >>> _named("porto ships", "I took ships to Porto.", "english"), _named("ships", "Ships sail.", "english")
    (True, False)
    """
    said, told = Text(text, language).tokens, Text(ends, language).tokens
    places = ((end, [token for token in said if token.stem == end.stem]) for end in told if end.stem)
    return any(
        bool(some) and all(token.capital for token in some) and (end.capital or not all(token.opens for token in some))
        for end, some in places
    )
