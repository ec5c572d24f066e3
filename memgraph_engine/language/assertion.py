"""What a text asserts: its clauses with a subject and a verb, each with what goes on from it in its sentence."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from memgraph_engine.language.reading import Reading
from memgraph_engine.language.statement import Statement, clauses
from memgraph_engine.language.terms import listed_terms, word_list
from memgraph_engine.language.verbs import asks, begin, imperative
from memgraph_engine.language.wording import Token, opening, parted, phrases_in, words

_TAG = 3  # words of a question that asks for what stands before it: "isn't he"
_WHO = 5  # words that name who did something with the speaker: "my old friend and"
_SHORT = 4  # words of a sentence that may only deny the one before it: "Not really."


@dataclass(frozen=True)
class Assertion:
    """A clause that tells a fact, and those behind it that have no subject and verb: "nuts" and "pollen".

    `tokens` are those of its text, `before` and `after` all others of the line.
    """

    clause: Statement
    before: Sequence[Token]
    tokens: Sequence[Token]
    after: Sequence[Token]

    @property
    def text(self) -> str:
        """Its text, as it was said."""
        return self.clause.line.words(self.tokens)

    @cached_property
    def parts(self) -> tuple[str, str, str]:
        """The subject, the predicate and the value, as they are written; the subject is '' where it is who speaks."""
        about, predicate, value = self.clause.parts
        return about, predicate, f"{value}{self.text.removeprefix(self.clause.line.words(self.clause.own))}"

    @cached_property
    def each(self) -> "Sequence[Assertion]":
        """Its clauses, each as if it stood by itself: "I live in Leeds" and "I work there", of one "and" the other."""
        held = {one.span for one in self.tokens}
        some = [one for one in clauses(self.clause.line) if one.own[0].span in held]
        return [Assertion(one, self.before, [*one.lead, *one.own], self.after) for one in some]

    @cached_property
    def begin(self) -> int:
        """Where it tells something, and of whom: behind "by the way", and behind "my wife and" of "my wife and I"."""
        tokens, lists = self.tokens, self.clause.lists
        first = begin(tokens, lists)
        together = range(first + 2, min(first + _WHO, len(tokens)))
        joined = (at for at in together if tokens[at].word in lists.speaker and tokens[at - 1].word in lists.joints)
        return next(joined, first)

    @property
    def behind(self) -> Sequence[Token]:
        """The others behind it in its sentence, but for what asks to "keep that in mind"."""
        others = [one for one in self.after if one.sentence == self.tokens[-1].sentence]
        return others[opening(others, self.clause.lists.single) :]

    @property
    def opens(self) -> bool:
        """Whether nothing is said before it but a greeting, or who is greeted."""
        return not self._told(self.before)

    @property
    def firm(self) -> bool:
        """Whether the speaker tells it himself, doubts nothing of it, and takes nothing of it back right behind it."""
        return self._own and not (self.tokens[0].asked or self._doubted or self._taken_back)

    def _told(self, tokens: Sequence[Token]) -> Sequence[Token]:
        """Return what tokens tell behind a greeting: nothing of "Well" and of "Hi Sam"."""
        told = tokens[begin(tokens, self.clause.lists) :]
        return () if len(told) == 1 < len(tokens) and told[0].capital else told

    @property
    def _own(self) -> bool:
        """Whether the speaker begins it or goes on: what another one begins, he may tell: "She goes, I'm late"."""
        lists, told = self.clause.lists, self._told(self._led)
        first = told[int(told[0].word in lists.negations) :] if told else ()
        mine = not told or any(one.word in lists.first_person for one in first[:1])
        return mine or imperative(told, self.clause.line) or told[-1].word in lists.joints - lists.hedges

    @property
    def _led(self) -> Sequence[Token]:
        return [one for one in self.before if one.sentence == self.tokens[0].sentence]

    @property
    def _denies(self) -> bool:
        """Whether it is denied: what is behind "I'm no nurse" takes nothing back by another denial ("I quit")."""
        return not self.clause.lists.negations.isdisjoint(words(self.tokens))

    @property
    def _doubted(self) -> bool:
        """Whether its sentence begins with less than a plain fact, or goes on so: "I think", "yeah right"."""
        lists, behind = self.clause.lists, words(self.behind[:2])
        less = lists.hedges | lists.supposing
        takes_back = not self._denies and not (lists.negations | lists.interjections - lists.joints).isdisjoint(behind)
        return takes_back or bool(phrases_in(words(self._led), less) or phrases_in(behind, less))

    @property
    def _taken_back(self) -> bool:
        """Whether it is put right, or denied in a few words, behind it: "sorry, York", "Not really."."""
        lists, sentence = self.clause.lists, self.tokens[-1].sentence + 1
        back = lists.corrections | lists.edits.keys()
        following = [one for one in self.after if one.sentence == sentence]
        denies = len(following) < _SHORT and not lists.negations.isdisjoint(words(following))
        denied = denies and not imperative(following, self.clause.line)  # "Never suggest pork."
        return bool(denied or opening(following, back) or (not self._denies and opening(self.behind, back)))


def assertions(line: Reading) -> list[Assertion]:
    """Return what a text asserts: nothing that is asked, supposed or quoted, or that a text of somebody's tells.

    >>> [one.text for one in assertions(Reading("I like nuts and figs. If I ate fish, I'd say. Is Bo in?", "english"))]
    ['I like nuts and figs']
    """
    if "```" in line.text or _made_up(line):
        return []
    place = {id(token): at for at, token in enumerate(line.tokens)}
    spans = (
        (some[0], place[id(some[0].own[0])], place[id(some[-1].own[-1])] + 1)
        for some in _grouped(clauses(line), _tagged(line))
    )
    return [Assertion(one, line.tokens[:a], line.tokens[a:b], line.tokens[b:]) for one, a, b in spans]


def of_speaker(text: str, language: str) -> bool:
    """Tell whether a text has a clause on who says it, and not on his people and things; a bare answer may be on him.

    >>> said = "They call me Bo.", "My name is Bo.", "A nurse.", "My son is a nurse.", "My son's name is Bo."
    >>> [of_speaker(one, "english") for one in said]
    [True, True, True, False, False]
    """
    some, asked = clauses(line := Reading(text, language)), listed_terms(language, "asked-attributes")
    own = (one.subject.speaker or not line.lists.speaker.isdisjoint(one.words) for one in some)
    return any(own) or not any(one.finite and (one.subject.owner or one.subject.noun not in asked) for one in some)


def _made_up(line: Reading) -> bool:
    """Tell whether a text is made up, or asks for a work that is, or brings one: not "my son wrote a poem"."""
    if phrases_in(line.forms, word_list(line.language, "made-up")):
        return True
    if not phrases_in(line.forms, word_list(line.language, "works")):
        return False
    wanted = any(one.asked for one in line.tokens) or any(asks(one, line) for one in parted(line.tokens, "sentence"))
    return wanted or ":" in line.text or "\n" in line.text


def _grouped(some: Sequence[Statement], tagged: Collection[int]) -> Iterator[list[Statement]]:
    """Yield each clause that has a subject and a verb, with those behind it in its sentence that have none."""
    group: list[Statement] = []
    for one in some:
        plain = not (one.supposed or one.own[0].sentence in tagged)
        if group and plain and not (one.finite or one.wanted) and one.own[0].sentence == group[0].own[0].sentence:
            group.append(one)
            continue
        if group:
            yield group
        group = [one] if plain and (one.finite or one.standing) else []
    if group:
        yield group


def _tagged(line: Reading) -> frozenset[int]:
    """Return the sentences that end in a short question, which asks for what stands before it: "…, right?"."""
    asked = [clause for clause in parted(line.tokens, "clause") if clause[0].asked]
    return frozenset(one[0].sentence for one in asked if one[-1].sentence == one[0].sentence and len(one) <= _TAG)
